/*
 * murmur3.h - the 64-bit finaliser of MurmurHash3 (Appleby): two multiplications, three shifts.
 *
 * Each bit of the key changes each bit of the result with probability near one half. A bijection,
 * so keys that join to one word are all that ever collide before the table's size is taken. No
 * secret.
 */
#pragma once

#include "hash/word.h"

static __always_inline u64 hash_fmix64(u64 key)
{
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdull;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53ull;
	return key ^ key >> 33;
}

/* Two parts: the second is turned by half a word, so that addresses and small numbers do not
 * overlap. */
static __always_inline u64 hash_murmur3(u64 a, u64 b)
{
	return hash_fmix64(a ^ hash_rotate_left64(b, 32));
}
