/*
 * The hash by a folded multiplication of the key's words: the halves of a 128-bit product, xored.
 *
 * Source: in the manner of Wang Yi, wyhash. Cost: two exclusive ors, a multiplication to 128 bits,
 * an exclusive or, a shift. Weakness: no secret; a part that equals its constant makes the product
 * 0 whatever the other part is (with addresses and small numbers that does not happen).
 */
#pragma once

static __always_inline u64 hash_wyhash(u64 a, u64 b)
{
	unsigned __int128 product =
		(unsigned __int128)(a ^ 0xa0761d6478bd642full) * (b ^ 0xe7037ed1a0b428dbull);

	return (u64)product ^ (u64)(product >> 64);
}

static inline u32 any_wyhash(u64 sequential, u64 other, unsigned bits)
{
	return hash_top(hash_wyhash(sequential, other), bits);
}
