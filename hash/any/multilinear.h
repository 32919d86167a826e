/*
 * The hash by a multilinear function with keys drawn at boot: k0 + sum of k_i times the i-th 32-bit
 * word of the key, modulo 2^64, the top bits.
 *
 * Source: Lemire and Kaser 2014. Cost: four multiplications, four adds. Weakness: five loads of
 * keys. Strongly universal: over the random keys, two different keys collide with probability
 * 2^-32. Adding the products is what the proof needs: xor would not do.
 */
#pragma once

static inline u32 any_multilinear(u64 sequential, u64 other, unsigned bits)
{
	const u64 *keys = hash_multilinear_keys;

	return hash_top(keys[0] + keys[1] * (u32)sequential + keys[2] * (sequential >> 32) +
				keys[3] * (u32)other + keys[4] * (other >> 32),
			bits);
}
