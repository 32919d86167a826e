/*
 * The hash by the golden ratio: the sum of the key's words * 0x61c88647, the top bits
 * (0x61c8864680b583eb with 64-bit words).
 *
 * Source: Knuth, volume 3, 6.4; constants of Linux since 4.7. Cost: an add, a multiplication, a
 * shift. Weakness: keys whose sums are equal collide (blocks of two devices as far apart as their
 * numbers); the low half of the product is thrown away, so the top bits of a key must not be all
 * that differs. Runs of keys land as far apart as can be.
 */
#pragma once

static inline u32 any_fibonacci(u64 sequential, u64 other, unsigned bits)
{
	return hash_top(hash_sum(sequential, other) * HASH_GOLDEN_RATIO, bits);
}
