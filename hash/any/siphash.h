/*
 * The hash by SipHash-1-3 with a key drawn at boot, on both words of the key.
 *
 * Source: Aumasson and Bernstein 2012, with fewer rounds. Cost: about 90 instructions. Weakness:
 * the cost, which buys that nobody can aim at a bucket.
 */
#pragma once

#include "hash/random.h"
#include "kernel/core/siphash.h"

static inline u32 any_siphash(u64 sequential, u64 other, unsigned bits)
{
	struct siphash v = siphash_begin(hash_siphash_key);

	siphash_word(&v, sequential);
	siphash_word(&v, other);
	return hash_top64(siphash_end(&v, 16ull << 56), bits);
}
