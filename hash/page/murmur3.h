/*
 * The page hash by MurmurHash3's finaliser, on the page's index and the inode's address.
 *
 * Source: Appleby, MurmurHash3, fmix64(). Cost: a rotation, two multiplications, four shifts, four
 * exclusive ors. Weakness: no secret: collisions can be made.
 */
#include "hash/mix/murmur3.h"

static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	return hash_top64(hash_murmur3(byte_offset >> 12, inode), bits);
}
