/*
 * random.h - the random numbers of the keyed functions, drawn once at boot (hash/random.c).
 *
 * Each is expanded from one seed by SplitMix64 (Steele 2014), so that a test can give a seed and
 * know every number.
 */
#pragma once

#include "hash/word.h"

#define HASH_TABULATION_BYTES 16
/* One to add, one for the length, 64 for the words of a name of 256 bytes. */
#define HASH_MULTILINEAR_KEYS 66

extern u64 hash_siphash_key[2];
extern u64 hash_multilinear_keys[HASH_MULTILINEAR_KEYS];
extern u8 hash_pearson_table[256]; /* a permutation, by Fisher and Yates' shuffle */
extern u32 hash_tabulation_table[HASH_TABULATION_BYTES][256];

/* Expand @seed, after random_init(), before anything is hashed. */
void hash_random_init(u64 seed);
