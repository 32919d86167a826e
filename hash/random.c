/*
 * random.c - draw the random numbers of the keyed functions. See random.h.
 */
#include "hash/random.h"

#include "hash/cache.h"
#include "kernel/core/random.h"

u64 hash_siphash_key[2];
u64 hash_multilinear_keys[HASH_MULTILINEAR_KEYS];
u8 hash_pearson_table[256];
u32 hash_tabulation_table[HASH_TABULATION_BYTES][256];

static u64 splitmix64(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void draw_words(u64 *words, unsigned count, u64 state)
{
	for (unsigned i = 0; i < count; i++)
		words[i] = splitmix64(&state);
}

static void draw_permutation(u8 *table, u64 state)
{
	for (unsigned i = 0; i < 256; i++)
		table[i] = (u8)i;
	for (unsigned i = 255; i > 0; i--) {
		unsigned j = (unsigned)(splitmix64(&state) % (i + 1));
		u8 swap = table[i];

		table[i] = table[j];
		table[j] = swap;
	}
}

/* Each begins at the seed itself. */
void hash_random_init(u64 seed)
{
	u32 *numbers = &hash_tabulation_table[0][0];
	u64 state = seed;

	draw_words(hash_siphash_key, 2, seed);
	draw_words(hash_multilinear_keys, HASH_MULTILINEAR_KEYS, seed);
	draw_permutation(hash_pearson_table, seed);
	for (unsigned i = 0; i < HASH_TABULATION_BYTES * 256; i++)
		numbers[i] = (u32)(splitmix64(&state) >> 32);
}

void hash_random_start(void)
{
	hash_random_init(random_u64());
}
