/*
 * The inode hash by MurmurHash3's finaliser, on the inode number and the superblock's address.
 *
 * Source: Appleby, MurmurHash3, fmix64(). Cost: a rotation, two multiplications, four shifts, four
 * exclusive ors. Weakness: no secret: collisions can be made.
 */
#include "hash/mix/murmur3.h"

static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return hash_top64(hash_murmur3(number, superblock), bits);
}
