/*
 * properties.c - a table does what a model does, over all options, by seed.
 *
 *	properties FOLDER FIRST-SEED SEEDS
 *
 * Each seed draws a table's options, the sizes of its records and a few thousand calls, among them
 * syncs, closes, ends without a sync, readers of the last synced state, and scans that delete.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trial {
	uint64_t random;
	char path[200];
	bool on_disk;
	int flags;
	struct chainhash_options options;
	struct chainhash *table;
	struct model now, synced;
	uint32_t version;
};

/* The worst there is: every record has the same hash. */
static uint32_t constant_hash(const void *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	return 42;
}

static uint32_t length_hash(const void *bytes, size_t size)
{
	(void)bytes;
	return (uint32_t)size;
}

static void draw_options(struct trial *trial)
{
	static const char *const extra[] = {"package-33", "siphash", "tabulation", "multilinear",
					    "pearson",	  "crc32c",  "linux-6.1",  "package-37"};
	static const uint32_t largest[] = {0, 20, 300, 3000, 70000};
	struct chainhash_options *o = &trial->options;
	uint64_t *random = &trial->random;
	uint32_t function = random_below(random, 12);

	*o = (struct chainhash_options){
		.bucket_size = 64u << random_below(random, 10),
		.fill_factor = random_below(random, 3) ? 1 + random_below(random, 40) : 0,
		.elements = random_below(random, 3) ? 0 : random_below(random, 5000),
		.cache_size = random_below(random, 2) ? 0 : 1,
		.split = random_below(random, 3),
		.seed = 1 + random_below(random, 1000),
	};
	if (function < 8)
		o->hash = extra[function];
	if (function == 8)
		o->hash_function = constant_hash;
	if (function == 9)
		o->hash_function = length_hash;
	trial->on_disk = random_below(random, 4) != 0;
	trial->flags = random_below(random, 8) ? CHAINHASH_NO_FLUSH : 0;
	if (!random_below(random, 4))
		trial->flags |= CHAINHASH_NO_CHECKSUM;
	trial->now = (struct model){
		.keys = function == 8 || function == 9 ? 60 : 20u << random_below(random, 7),
		.largest = largest[random_below(random, 5)],
		.largest_key = largest[random_below(random, 4)],
	};
	trial->synced = trial->now;
}

static void open_table(struct trial *trial, int flags)
{
	int error = chainhash_open(&trial->table, trial->on_disk ? trial->path : NULL,
				   trial->flags | flags, 0600, &trial->options);

	if (error)
		fprintf(stderr, "open: %d %s\n", error, chainhash_message());
	CHECK(!error);
}

static void put(struct trial *trial, uint32_t key)
{
	int how = random_below(&trial->random, 4) ? CHAINHASH_REPLACE : CHAINHASH_INSERT;
	uint32_t version = ++trial->version;
	int error = chainhash_put(trial->table, model_key(&trial->now, key),
				  model_data(&trial->now, key, version), how);

	if (how == CHAINHASH_INSERT && trial->now.versions[key]) {
		CHECK(error == -EEXIST);
		return;
	}
	CHECK(!error);
	trial->now.versions[key] = version;
}

static void remove_key(struct trial *trial, uint32_t key)
{
	int error = chainhash_delete(trial->table, model_key(&trial->now, key));

	CHECK(error == (trial->now.versions[key] ? 0 : -ENOENT));
	trial->now.versions[key] = 0;
}

static void get(struct trial *trial, uint32_t key)
{
	struct chainhash_item data, expected;
	int error = chainhash_get(trial->table, model_key(&trial->now, key), &data);

	CHECK(error == (trial->now.versions[key] ? 0 : -ENOENT));
	if (error)
		return;
	expected = model_data(&trial->now, key, trial->now.versions[key]);
	CHECK(data.size == expected.size);
	CHECK(!data.size || !memcmp(data.bytes, expected.bytes, data.size));
}

/* Delete a part of the records while a scan goes over them: each is met once. */
static void scan_and_delete(struct trial *trial)
{
	static unsigned char seen[KEYS_MOST];
	struct chainhash_cursor cursor = {{0, 0}};
	struct chainhash_item key;
	uint32_t part = 1 + random_below(&trial->random, 3);
	int error;

	memset(seen, 0, sizeof(seen));
	while (!(error = chainhash_scan(trial->table, &cursor, &key, NULL))) {
		uint32_t number = model_number(&trial->now, key);

		CHECK(number < KEYS_MOST && !seen[number]);
		seen[number] = 1;
		if (number % part)
			continue;
		/* The key is the table's own bytes. */
		CHECK(!chainhash_delete(trial->table, key));
		trial->now.versions[number] = 0;
		seen[number] = 2;
	}
	CHECK(error == -ENOENT);
	for (uint32_t i = 0; i < trial->now.keys; i++)
		CHECK(seen[i] || !trial->now.versions[i]);
}

/* Put under one key what was got of another: the bytes are the table's own. */
static void copy_record(struct trial *trial, uint32_t from, uint32_t to)
{
	struct chainhash_item data;

	if (!trial->now.versions[from] || from == to)
		return;
	CHECK(!chainhash_get(trial->table, model_key(&trial->now, from), &data));
	CHECK(!chainhash_put(trial->table, model_key(&trial->now, to), data, CHAINHASH_REPLACE));
	CHECK(!chainhash_get(trial->table, model_key(&trial->now, to), &data));
	CHECK(data.size == model_data(&trial->now, from, trial->now.versions[from]).size);
	CHECK(!data.size ||
	      !memcmp(data.bytes, model_data(&trial->now, from, trial->now.versions[from]).bytes,
		      data.size));
	CHECK(!chainhash_delete(trial->table, model_key(&trial->now, to)));
	trial->now.versions[to] = 0;
}

static void report(void *context, const char *problem)
{
	(void)context;
	fprintf(stderr, "verify: %s\n", problem);
}

static void verify(struct trial *trial)
{
	CHECK(chainhash_verify(trial->table, report, NULL, NULL) == 0);
}

static void sync_table(struct trial *trial)
{
	CHECK(!chainhash_sync(trial->table));
	trial->synced = trial->now;
}

static void read_beside(struct trial *trial)
{
	struct chainhash *reader;
	int flags = CHAINHASH_READ_ONLY | (random_below(&trial->random, 2) ? CHAINHASH_POOL : 0);
	int error = chainhash_open(&reader, trial->path, flags, 0, &trial->options);

	if (error == -ENODATA)
		return;
	if (error)
		fprintf(stderr, "reader: %d %s\n", error, chainhash_message());
	CHECK(!error);
	CHECK(model_equal(&trial->synced, reader));
	CHECK(chainhash_put(reader, model_key(&trial->now, 0), model_key(&trial->now, 0), 0) ==
	      -EROFS);
	if (random_below(&trial->random, 2)) {
		struct model before = trial->synced;

		for (int i = 0; i < 20; i++)
			put(trial, random_below(&trial->random, trial->now.keys));
		sync_table(trial);
		for (int i = 0; i < 20; i++)
			put(trial, random_below(&trial->random, trial->now.keys));
		sync_table(trial);
		CHECK(model_equal(&before, reader));
		CHECK(!chainhash_refresh(reader));
		CHECK(model_equal(&trial->synced, reader));
	}
	CHECK(!chainhash_close(reader));
}

static void reopen(struct trial *trial)
{
	if (random_below(&trial->random, 3)) {
		CHECK(!chainhash_close(trial->table));
		trial->synced = trial->now;
	} else {
		chainhash_abandon(trial->table);
		trial->now = trial->synced;
	}
	open_table(trial, CHAINHASH_CREATE);
}

static void step(struct trial *trial)
{
	uint32_t kind = random_below(&trial->random, 1000);
	uint32_t key = random_below(&trial->random, trial->now.keys);

	if (kind < 550)
		put(trial, key);
	else if (kind < 750)
		get(trial, key);
	else if (kind < 960)
		remove_key(trial, key);
	else if (kind < 980)
		copy_record(trial, random_below(&trial->random, trial->now.keys), key);
	else if (kind < 983)
		scan_and_delete(trial);
	else if (kind < 985)
		verify(trial);
	else if (!trial->on_disk)
		CHECK(!chainhash_sync(trial->table));
	else if (kind < 993)
		sync_table(trial);
	else if (kind < 997)
		read_beside(trial);
	else
		reopen(trial);
}

static void run(const char *folder, uint64_t seed)
{
	struct trial trial = {.random = seed};
	uint32_t steps;

	snprintf(check_context, sizeof(check_context), "seed %llu", (unsigned long long)seed);
	snprintf(trial.path, sizeof(trial.path), "%s/properties.%d", folder, (int)getpid());
	unlink(trial.path);
	draw_options(&trial);
	steps = trial.now.largest > 1000 ? 400 : 2500;
	open_table(&trial, CHAINHASH_CREATE | CHAINHASH_EXCLUSIVE);
	for (uint32_t i = 0; i < steps; i++)
		step(&trial);
	verify(&trial);
	CHECK(model_equal(&trial.now, trial.table));
	if (trial.on_disk) {
		reopen(&trial);
		CHECK(model_equal(&trial.now, trial.table));
		verify(&trial);
	}
	CHECK(!chainhash_close(trial.table));
	unlink(trial.path);
}

int main(int argc, char **argv)
{
	uint64_t first, count;

	if (argc != 4) {
		fprintf(stderr, "usage: properties FOLDER FIRST-SEED SEEDS\n");
		return 2;
	}
	first = strtoull(argv[2], NULL, 10);
	count = strtoull(argv[3], NULL, 10);
	for (uint64_t seed = first; seed < first + count; seed++)
		run(argv[1], seed);
	printf("%llu seeds\n", (unsigned long long)count);
	return 0;
}
