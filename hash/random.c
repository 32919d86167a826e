/*
 * random.c - draw the random numbers that the chosen functions need. See hash/mix/random.h.
 */
#include "hash/cache.h"
#include "hash/mix/random.h"
#include "kernel/core/random.h"

#ifdef HASH_RANDOM_ALL /* the hosted tests: whatever is chosen */
#define HASH_NEEDS_SIPHASH
#define HASH_NEEDS_MULTILINEAR
#define HASH_NEEDS_PEARSON
#define HASH_NEEDS_TABULATION
#endif

static u64 __maybe_unused splitmix64(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

#ifdef HASH_NEEDS_SIPHASH
u64 hash_siphash_key[2];
static void siphash_init(u64 state)
{
	hash_siphash_key[0] = splitmix64(&state);
	hash_siphash_key[1] = splitmix64(&state);
}
#else
#define siphash_init(state) ((void)(state))
#endif

#ifdef HASH_NEEDS_MULTILINEAR
u64 hash_multilinear_keys[HASH_MULTILINEAR_KEYS];
static void multilinear_init(u64 state)
{
	for (unsigned i = 0; i < HASH_MULTILINEAR_KEYS; i++)
		hash_multilinear_keys[i] = splitmix64(&state);
}
#else
#define multilinear_init(state) ((void)(state))
#endif

#ifdef HASH_NEEDS_PEARSON
u8 hash_pearson_table[256];
static void pearson_init(u64 state)
{
	u8 *table = hash_pearson_table;

	for (unsigned i = 0; i < 256; i++)
		table[i] = (u8)i;
	for (unsigned i = 255; i > 0; i--) {
		unsigned j = (unsigned)(splitmix64(&state) % (i + 1));
		u8 swap = table[i];

		table[i] = table[j];
		table[j] = swap;
	}
}
#else
#define pearson_init(state) ((void)(state))
#endif

#ifdef HASH_NEEDS_TABULATION
u32 hash_tabulation_table[HASH_TABULATION_BYTES][256];
static void tabulation_init(u64 state)
{
	for (unsigned position = 0; position < HASH_TABULATION_BYTES; position++)
		for (unsigned byte = 0; byte < 256; byte++)
			hash_tabulation_table[position][byte] = (u32)(splitmix64(&state) >> 32);
}
#else
#define tabulation_init(state) ((void)(state))
#endif

/* Each table begins at the seed itself: it does not depend on which others there are. */
void hash_random_init(u64 seed)
{
	siphash_init(seed);
	multilinear_init(seed);
	pearson_init(seed);
	tabulation_init(seed);
}

void hash_random_start(void)
{
	hash_random_init(random_u64());
}
