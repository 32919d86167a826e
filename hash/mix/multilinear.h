/*
 * multilinear.h - multilinear hashing (Lemire and Kaser 2014): k0 + sum of k_i times the i-th
 * 32-bit word, modulo 2^64, of which the high half counts.
 *
 * Strongly universal: over the random keys, drawn at boot, two different keys collide with
 * probability 2^-32. Adding the products is what the proof needs: xor would not do.
 */
#pragma once

#include "hash/mix/random.h"

/* Four words. Only the result's high 32 bits are to be used. */
static __always_inline u64 hash_multilinear(u64 a, u64 b)
{
	const u64 *keys = hash_multilinear_keys;

	return keys[0] + keys[1] * (u32)a + keys[2] * (u32)(a >> 32) + keys[3] * (u32)b +
	       keys[4] * (u32)(b >> 32);
}
