/*
 * handles.c - checks of calls.c about handles in forked processes, about verifications and
 * salvages.
 */
#include "calls.h"

#include "records.h"
#include "store/store.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct chainhash *open_table(int flags, const struct chainhash_options *options)
{
	struct chainhash *table;

	CHECK(!chainhash_open(&table, path, flags, 0600, options));
	return table;
}

/* Put records 0 to @count - 1 with @size bytes of data. */
void put_numbers(struct chainhash *table, uint32_t count, size_t size)
{
	static const char bytes[30000];
	struct chainhash_item data = {bytes, size};

	for (uint32_t i = 0; i < count; i++) {
		struct chainhash_item key = {&i, sizeof(i)};

		CHECK(!chainhash_put(table, key, data, 0));
	}
}

void count_problem(void *context, const char *problem)
{
	snprintf(check_context, sizeof(check_context), "%s", problem);
	++*(unsigned *)context;
}

void expect_numbers(int flags, uint32_t count, size_t size)
{
	struct chainhash *table = open_table(flags, NULL);
	struct chainhash_item data;
	unsigned problems = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct chainhash_item key = {&i, sizeof(i)};

		CHECK(!chainhash_get(table, key, &data) && data.size == size);
	}
	CHECK(!chainhash_verify(table, count_problem, NULL, &problems) && !problems);
	chainhash_close(table);
}

/* The state that a reader holds is its opener's: another process does not take it from him. */
void check_refresh_of_another_process(void)
{
	struct chainhash *writer = open_table(CHAINHASH_CREATE, NULL), *reader;
	pid_t process;
	int status;

	put_numbers(writer, 10, 4);
	CHECK(!chainhash_sync(writer));
	reader = open_table(CHAINHASH_READ_ONLY, NULL);
	put_numbers(writer, 20, 4);
	CHECK(!chainhash_sync(writer));
	process = fork();
	if (!process)
		_exit(chainhash_refresh(reader) != -EPERM);
	CHECK(waitpid(process, &status, 0) == process && !status);
	CHECK(!chainhash_refresh(reader));
	chainhash_abandon(reader);
	chainhash_abandon(writer);
}

/* What a process may do by its parent's handle for writing, which has gone over to other states. */
static int use_as_child(struct chainhash *writer, uint32_t count)
{
	struct chainhash_item data;
	int error = 0;

	for (uint32_t i = 0; i < count; i++) {
		error = chainhash_get(writer, (struct chainhash_item){&i, sizeof(i)}, &data);
		if (error && error != -EBADMSG)
			return 1;
	}
	error = 0;
	for (uint32_t i = 0; i < count && !error; i++)
		error = chainhash_put(writer, (struct chainhash_item){&i, sizeof(i)}, data, 0);
	if (error != -EPERM || chainhash_sync(writer) != -EPERM)
		return 2;
	return chainhash_close(writer) == -EPERM ? 0 : 3;
}

/* A forked process writes nothing by its parent's handle, not even to make room for a get. */
void check_writer_of_another_process(void)
{
	enum { COUNT = 3000 };
	struct chainhash_options options = {.cache_size = 1 << 17};
	struct chainhash *writer = open_table(CHAINHASH_CREATE, &options);
	int ends[2], status;
	pid_t process;
	char byte;

	put_numbers(writer, COUNT, 200);
	CHECK(!chainhash_sync(writer) && !pipe(ends));
	put_numbers(writer, COUNT / 10, 190);
	process = fork();
	if (!process)
		_exit(read(ends[0], &byte, 1) == 1 ? use_as_child(writer, COUNT) : 9);
	put_numbers(writer, COUNT, 180);
	CHECK(!chainhash_sync(writer) && write(ends[1], "", 1) == 1);
	CHECK(waitpid(process, &status, 0) == process);
	expect_numbers(CHAINHASH_READ_ONLY | CHAINHASH_POOL, COUNT, 180);
	CHECK(!status);
	put_numbers(writer, COUNT, 170);
	CHECK(!chainhash_close(writer));
	expect_numbers(CHAINHASH_READ_ONLY, COUNT, 170);
}

/* What a sync did not come to write is no damage of the file. */
void check_verify_after_a_sync_that_failed(void)
{
	struct rlimit all, little = {1, 1};
	struct chainhash *table = open_table(CHAINHASH_CREATE, NULL);
	unsigned problems = 0;

	put_numbers(table, 2000, 100);
	CHECK(!chainhash_sync(table) && !getrlimit(RLIMIT_FSIZE, &all));
	put_numbers(table, 4000, 100);
	little.rlim_max = all.rlim_max;
	CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && !setrlimit(RLIMIT_FSIZE, &little));
	CHECK(chainhash_sync(table) == -EFBIG);
	CHECK(!chainhash_verify(table, count_problem, NULL, &problems) && !problems);
	CHECK(!setrlimit(RLIMIT_FSIZE, &all) && !chainhash_sync(table));
	CHECK(!chainhash_verify(table, count_problem, NULL, &problems) && !problems);
	chainhash_abandon(table);
}

/* What is damaged since a get looked at it is found, whatever way the handle reads. */
void check_verify_looks_anew(void)
{
	struct chainhash *table = open_table(CHAINHASH_CREATE, NULL);
	struct chainhash_item key = {"the key", 7}, data = {"the data of it", 14};
	int descriptor = open(path, O_RDWR);
	static char bytes[1 << 16];
	ssize_t size;
	char *place;

	CHECK(!chainhash_put(table, key, data, 0) && !chainhash_close(table));
	size = pread(descriptor, bytes, sizeof(bytes), 0);
	place = size < 0 ? NULL : memmem(bytes, (size_t)size, data.bytes, data.size);
	CHECK(place);
	for (int pool = 0; pool <= CHAINHASH_POOL; pool += CHAINHASH_POOL) {
		unsigned problems = 0;

		table = open_table(CHAINHASH_READ_ONLY | pool, NULL);
		CHECK(!chainhash_verify(table, count_problem, NULL, &problems));
		CHECK(!chainhash_get(table, key, &data));
		CHECK(pwrite(descriptor, "T", 1, place - bytes) == 1);
		CHECK(chainhash_verify(table, count_problem, NULL, &problems) > 0 && problems);
		CHECK(pwrite(descriptor, "t", 1, place - bytes) == 1);
		chainhash_abandon(table);
	}
	close(descriptor);
}

enum { NUMBERS = 5000 };

/* A table in the file, of numbers; @pages tells which logical page each of them is on. */
static struct chainhash *table_of_numbers(u64 *pages)
{
	struct chainhash_options options = {.bucket_size = 256};
	struct chainhash *table = open_table(CHAINHASH_CREATE, &options);

	put_numbers(table, NUMBERS, 4);
	CHECK(!chainhash_sync(table));
	for (uint32_t i = 0; i < NUMBERS; i++) {
		struct chainhash_item key = {&i, sizeof(i)};
		struct lookup lookup;

		operation_begin(table, false);
		CHECK(record_find(table, &lookup, key) == 1);
		pages[i] = lookup.chain.view.logical;
	}
	return table;
}

static void note_deleted(void *told, const char *problem)
{
	*(bool *)told |= strstr(problem, "deleted records may come back") != NULL;
}

/*
 * All numbers are salvaged but those on logical pages from @first to before @end; is it told that
 * deleted ones may come back?
 */
static bool expect_salvaged(const u64 *pages, u64 first, u64 end)
{
	struct chainhash *table = open_table(CHAINHASH_READ_ONLY | CHAINHASH_DAMAGED, NULL), *new;
	struct chainhash_item data;
	uint32_t lost = 0;
	bool told = false;

	CHECK(!chainhash_open(&new, NULL, 0, 0, NULL));
	CHECK(chainhash_salvage(table, new, note_deleted, &told) > 0);
	for (uint32_t i = 0; i < NUMBERS; i++) {
		struct chainhash_item key = {&i, sizeof(i)};

		if (pages[i] >= first && pages[i] < end)
			lost++;
		else
			CHECK(!chainhash_get(new, key, &data));
	}
	CHECK(lost && new->records == NUMBERS - lost);
	chainhash_abandon(new);
	chainhash_abandon(table);
	return told;
}

/*
 * Where a page of the map is lost, with the bitmap that it led to, what the others lead to is
 * salvaged, also from chunks whose buckets are lost.
 */
void check_lost_map_page(void)
{
	static u64 pages[NUMBERS];
	struct chainhash *table = table_of_numbers(pages);
	int descriptor = open(path, O_RDWR);
	u32 map = table->store.level[1].entries[0].physical;

	CHECK(overflow_page(table, 0) < 256 / 8 && table->store.level[1].count > 8);
	chainhash_abandon(table);
	CHECK(pwrite(descriptor, empty_page, 256, (off_t)map * 256) == 256);
	CHECK(expect_salvaged(pages, 0, 256 / 8));
	close(descriptor);
}

/* An entry of the map that a bit more makes lead to another's page costs its own page alone. */
void check_map_that_leads_to_another(void)
{
	static u64 pages[NUMBERS];
	struct chainhash *table = table_of_numbers(pages);
	const struct entry *entries = table->store.level[0].entries;
	int descriptor = open(path, O_RDWR);
	u32 other = 0, changed, map;
	u64 page = pages[0];
	u8 bytes[4];

	while (page / 32 >= other / 32 || !entries[other].physical ||
	       __builtin_popcount(entries[page].physical ^ entries[other].physical) != 1)
		CHECK(++other < table->store.level[0].count);
	changed = entries[other].physical;
	map = table->store.level[1].entries[page / 32].physical;
	chainhash_abandon(table);
	store32(bytes, changed);
	CHECK(pwrite(descriptor, bytes, 4, (off_t)map * 256 + (off_t)(page % 32 * 8)) == 4);
	CHECK(!expect_salvaged(pages, page, page + 1));
	close(descriptor);
}
