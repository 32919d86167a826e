/*
 * The hash by MurmurHash3's finaliser, on the xor of the key's words, one turned by half a word.
 *
 * Source: Appleby, MurmurHash3, fmix64(). Cost: a rotation, two multiplications, four shifts, four
 * exclusive ors. Weakness: no secret: collisions can be made. Each bit of the key changes each bit
 * of the result with probability near one half; a bijection, so that keys that join to one word are
 * all that ever collide before the table's size is taken.
 */
#pragma once

static __always_inline u64 hash_fmix64(u64 key)
{
	key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
	key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
	return key ^ key >> 33;
}

static inline u32 any_murmur3(u64 sequential, u64 other, unsigned bits)
{
	return hash_top(hash_fmix64(sequential ^ hash_rotate_left(other, 32)), bits);
}
