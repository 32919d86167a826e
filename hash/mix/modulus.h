/*
 * modulus.h - the remainder by the largest prime that is not larger than the table.
 *
 * The 2^bits - prime buckets at the end stay empty. A division by a variable costs 20 to 40 cycles.
 */
#pragma once

#include "hash/mix/join.h"

/* clang-format off */
static const u32 hash_modulus_primes[32] __maybe_unused = {
	1, 2, 3, 7, 13, 31, 61, 127, 251, 509, 1021, 2039, 4093, 8191, 16381, 32749, 65521,
	131071, 262139, 524287, 1048573, 2097143, 4194301, 8388593, 16777213, 33554393, 67108859,
	134217689, 268435399, 536870909, 1073741789, 2147483647,
};
/* clang-format on */

static __always_inline u32 hash_modulus(hash_word key, unsigned bits)
{
	return (u32)(key % hash_modulus_primes[bits]);
}
