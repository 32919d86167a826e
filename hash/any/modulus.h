/*
 * The hash by division: the sum of the key's words, modulo the largest prime that is not larger
 * than the table.
 *
 * Source: Knuth, volume 3, 6.4; Lever 1999, section 5. Cost: an add, a load and a division (20 to
 * 40 cycles). Weakness: the buckets behind the prime stay empty.
 */
#pragma once

static inline u32 any_modulus(u64 sequential, u64 other, unsigned bits)
{
	/* clang-format off */
	static const u32 primes[32] = {
		1, 2, 3, 7, 13, 31, 61, 127, 251, 509, 1021, 2039, 4093, 8191, 16381, 32749, 65521,
		131071, 262139, 524287, 1048573, 2097143, 4194301, 8388593, 16777213, 33554393,
		67108859, 134217689, 268435399, 536870909, 1073741789, 2147483647,
	};
	/* clang-format on */

	return (u32)(hash_sum(sequential, other) % primes[bits]);
}
