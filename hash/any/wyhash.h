/*
 * The hash by a folded multiplication of the key's words: the halves of a 128-bit product, xored.
 *
 * Source: in the manner of Wang Yi, wyhash. Cost: two exclusive ors, a multiplication to 128 bits,
 * an exclusive or, a shift. Weakness: no secret; a part that equals its constant makes the product
 * 0 whatever the other part is (with addresses and small numbers that does not happen).
 */
#pragma once

/* The two halves of the product of @a and @b, xored; where there is no type for it, by parts. */
static __always_inline u64 hash_fold(u64 a, u64 b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	return (u64)product ^ (u64)(product >> 64);
#else
	u64 low = (a & 0xffffffff) * (b & 0xffffffff);
	u64 middle = (a >> 32) * (b & 0xffffffff) + (low >> 32);
	u64 other = (a & 0xffffffff) * (b >> 32) + (middle & 0xffffffff);
	u64 high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);

	return (other << 32 | (low & 0xffffffff)) ^ high;
#endif
}

static __always_inline u64 hash_wyhash(u64 a, u64 b)
{
	return hash_fold(a ^ 0xa0761d6478bd642full, b ^ 0xe7037ed1a0b428dbull);
}

static inline u32 any_wyhash(u64 sequential, u64 other, unsigned bits)
{
	return hash_top(hash_wyhash(sequential, other), bits);
}
