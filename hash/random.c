/*
 * random.c - the seed of the keyed functions. In a kernel without any it is recorded all the same,
 * for who replays its key streams with one.
 */
#include "hash/cache.h"
#include "core/kernel.h"

#ifdef HASH_SHARED
#include "hash/keys.h"
#else
#define draw_keys(seed) ((void)0)
#endif

void hash_random_init(u64 seed)
{
	HASH_RECORD(page, HASH_SEED, NULL, seed, 0);
	draw_keys(seed);
}
