/*
 * model.c - see model.h.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char check_context[256];

void check_failed(const char *file, int line, const char *truth)
{
	fprintf(stderr, "%s:%d: not so: %s (%s)\n", file, line, truth, check_context);
	abort();
}

uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)((random_next(state) >> 32) * limit >> 32);
}

/* Sizes are small for most, and sometimes anything up to @largest. */
static uint32_t size_of(uint64_t seed, uint32_t largest)
{
	uint64_t state = seed;
	uint32_t kind = random_below(&state, 16);

	if (!kind)
		return random_below(&state, largest + 1);
	return random_below(&state, largest < 40 ? largest + 1 : 40);
}

static void fill(unsigned char *bytes, uint32_t size, uint64_t seed)
{
	for (uint32_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(random_next(&seed) >> 56);
}

/* Bytes of their own on the heap, so that a sanitizer sees a read beyond them. */
static void *fresh(void **held, uint32_t size)
{
	free(*held);
	*held = malloc(size ? size : 1);
	CHECK(*held);
	return *held;
}

struct chainhash_item model_key(const struct model *model, uint32_t key)
{
	static _Thread_local void *held;
	uint32_t size = 4 + size_of(key * 77ull + 5, model->largest_key);
	unsigned char *bytes = fresh(&held, size);

	fill(bytes, size, key * 131ull + 7);
	memcpy(bytes, &key, 4);
	return (struct chainhash_item){bytes, size};
}

struct chainhash_item model_data(const struct model *model, uint32_t key, uint32_t version)
{
	static _Thread_local void *held;
	uint64_t seed = (uint64_t)version << 32 | key;
	uint32_t size = size_of(seed * 3 + 1, model->largest);
	unsigned char *bytes = fresh(&held, size);

	fill(bytes, size, seed);
	return (struct chainhash_item){bytes, size};
}

static bool item_equal(struct chainhash_item a, struct chainhash_item b)
{
	return a.size == b.size && (!a.size || !memcmp(a.bytes, b.bytes, a.size));
}

uint32_t model_number(const struct model *model, struct chainhash_item key)
{
	uint32_t number;

	if (key.size < 4)
		return KEYS_MOST;
	memcpy(&number, key.bytes, 4);
	if (number >= model->keys || !item_equal(key, model_key(model, number)))
		return KEYS_MOST;
	return number;
}

static bool scan_equal(const struct model *model, struct chainhash *table)
{
	static _Thread_local unsigned char seen[KEYS_MOST];
	struct chainhash_cursor cursor = {{0, 0}};
	struct chainhash_item key, data;
	int error;

	memset(seen, 0, sizeof(seen));
	while (!(error = chainhash_scan(table, &cursor, &key, &data))) {
		uint32_t number = model_number(model, key);

		if (number == KEYS_MOST || seen[number]++ ||
		    !item_equal(data, model_data(model, number, model->versions[number]))) {
			fprintf(stderr, "the scan has key %u wrong\n", number);
			return false;
		}
	}
	if (error != -ENOENT) {
		fprintf(stderr, "the scan ends with error %d\n", error);
		return false;
	}
	for (uint32_t i = 0; i < model->keys; i++)
		if (seen[i] != (model->versions[i] != 0)) {
			fprintf(stderr, "the scan does not have key %u\n", i);
			return false;
		}
	return true;
}

bool model_equal(const struct model *model, struct chainhash *table)
{
	struct chainhash_item data;

	for (uint32_t i = 0; i < model->keys; i++) {
		int error = chainhash_get(table, model_key(model, i), &data);
		bool right = error == -ENOENT && !model->versions[i];

		if (!error)
			right = model->versions[i] &&
				item_equal(data, model_data(model, i, model->versions[i]));
		if (!right) {
			fprintf(stderr, "key %u of version %u: %d\n", i, model->versions[i], error);
			return false;
		}
	}
	return scan_equal(model, table);
}
