/*
 * fibonacci.h - multiplicative hashing by the golden ratio (Knuth, vol. 3, 6.4): the product's top
 * bits.
 *
 * Runs of keys land as far apart as can be. The low half of the product is thrown away, so the top
 * bits of a key must not be all that differs.
 */
#pragma once

#include "hash/mix/join.h"

static __always_inline u32 hash_fibonacci(hash_word key, unsigned bits)
{
	return hash_top(key * HASH_GOLDEN_RATIO, bits);
}
