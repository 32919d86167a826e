/*
 * The inode hash by Pearson's table of bytes, on the inode number and the superblock's address.
 *
 * Source: Pearson 1990; Lever 1999, appendix B. Cost: 64 loads, each waiting for one before it.
 * Weakness: slow; the four walks are not independent.
 */
#include "hash/mix/pearson.h"

static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return hash_top32(hash_pearson(number, superblock), bits);
}
