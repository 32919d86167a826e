/*
 * hash.c - the choice of hash functions: those of hash/name, which the kernel has, too.
 *
 * Their headers read words as the kernel's names allow (seven bytes beyond the end, little-endian).
 * A key of the library has nothing behind its end, so hash_take() is replaced by one that stays
 * within, on either byte order. The random numbers of the keyed functions, drawn once at boot in
 * the kernel, belong to a table here: made from the seed in its header, and found through a pointer
 * of the thread while the function runs.
 */
#include "buckets/hash.h"
#include "header.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define HOSTED
#define CONFIG_HASH_WORD_64
#define u64 hash_u64 /* the kernel's is of another type, of the same size */
#include "hash/shared.h"
#undef hash_take

/* A function in use, and what hash/keys.h makes for the kernel, as a seed gives it. */
struct hash_keys {
	const struct function *function; /* that they are for */
	hash_u64 siphash[2], multilinear[HASH_MULTILINEAR_KEYS];
	u8 pearson[256];
	u32 tabulation[HASH_TABULATION_BYTES][256];
};

static _Thread_local const struct hash_keys *keys_now;
#define hash_siphash_key (keys_now->siphash)
#define hash_multilinear_keys (keys_now->multilinear)
#define hash_pearson_table (keys_now->pearson)
#define hash_tabulation_table (keys_now->tabulation)
#define hash_take(type, name, length) ((type)take_bytes(name, length, sizeof(type)))

static inline hash_u64 take_bytes(const char **name, size_t *length, size_t bytes)
{
	size_t count = *length < bytes ? *length : bytes;
	hash_u64 word = 0;

	for (size_t i = 0; i < count; i++)
		word |= (hash_u64)(u8)(*name)[i] << 8 * i;
	*name += count;
	*length -= count;
	return word;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "functions.h"
#pragma GCC diagnostic pop
#undef u64

enum { PIECE = 255 }; /* the longest name that the functions are made for */

static const struct function {
	const char *name;
	u32 (*value)(uintptr_t salt, const char *name, size_t length);
} functions[] = {FUNCTIONS};

enum { FUNCTION_COUNT = sizeof(functions) / sizeof(functions[0]) };

/* Longer keys are hashed in pieces, whose values are joined as the default joins bytes. */
static u32 named_value(const struct hash_keys *keys, const u8 *bytes, size_t size)
{
	u32 value = 0;

	keys_now = keys;
	do {
		size_t part = size < PIECE ? size : PIECE;

		value = value * 33 + keys->function->value(0, (const char *)bytes, part);
		bytes += part;
		size -= part;
	} while (size);
	return value;
}

/* Steele 2014, SplitMix64, as core's. */
static hash_u64 random_next(hash_u64 *state)
{
	hash_u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* NULL: no memory. */
static struct hash_keys *keys_make(const struct function *function, hash_u64 seed)
{
	struct hash_keys *keys = malloc(sizeof(*keys));
	hash_u64 state = seed;

	if (!keys)
		return NULL;
	keys->function = function;
	for (unsigned i = 0; i < HASH_MULTILINEAR_KEYS; i++)
		keys->multilinear[i] = random_next(&state);
	memcpy(keys->siphash, keys->multilinear, sizeof(keys->siphash));
	state = seed;
	for (unsigned i = 0; i < HASH_TABULATION_BYTES * 256; i++)
		keys->tabulation[i / 256][i % 256] = (u32)(random_next(&state) >> 32);
	state = seed;
	for (unsigned i = 0; i < 256; i++)
		keys->pearson[i] = (u8)i;
	for (unsigned i = 255; i > 0; i--) {
		unsigned j = (unsigned)(random_next(&state) % (i + 1));
		u8 swap = keys->pearson[i];

		keys->pearson[i] = keys->pearson[j];
		keys->pearson[j] = swap;
	}
	return keys;
}

const struct function *function_named(const char *name)
{
	for (unsigned i = 0; i < FUNCTION_COUNT; i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

const char *chainhash_hash_name(unsigned number)
{
	return number < FUNCTION_COUNT ? functions[number].name : NULL;
}

static u32 check_value(const struct chainhash *t)
{
	static const char bytes[] = "The quick brown fox jumps over the lazy dog";

	return hash_key(t, bytes, sizeof(bytes));
}

/* Take the function that the table's name says into use. */
static int hash_use(struct chainhash *t, const struct chainhash_options *options)
{
	const struct function *function = function_named(t->hash_name);

	t->own = options->hash_function;
	if (t->own || function == functions)
		return 0;
	if (!function)
		return refuse(-EDOM, "the file was made with hash function '%s', which is not here",
			      t->hash_name);
	t->keys = keys_make(function, t->seed);
	t->named = named_value;
	return t->keys ? 0 : -ENOMEM;
}

int hash_choose(struct chainhash *t, const struct chainhash_options *options)
{
	const char *name = options->hash ? options->hash : functions[0].name;
	int error;

	if (options->hash_function)
		name = "user";
	snprintf(t->hash_name, sizeof(t->hash_name), "%s", name);
	t->seed = options->seed;
	if (!t->seed && getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = (u64)time(NULL) << 20 ^ (uintptr_t)t;
	error = hash_use(t, options);
	if (!error)
		t->hash_check = check_value(t);
	return error;
}

int hash_check(struct chainhash *t, const struct chainhash_options *options)
{
	const char *name = t->hash_name;
	bool own = !strcmp(name, "user");
	int error;

	if (own && !options->hash_function)
		return refuse(-EDOM, "the file was made with a hash function of a program's own");
	if (!own && options->hash && strcmp(options->hash, name))
		return refuse(-EDOM, "the file was made with hash function '%s', not '%s'", name,
			      options->hash);
	error = hash_use(t, options);
	if (!error && check_value(t) != t->hash_check)
		error = refuse(-EDOM, "hash function '%s' has other values now than in the file",
			       name);
	return error;
}
