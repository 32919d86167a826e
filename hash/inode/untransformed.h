/*
 * The inode hash that does nothing: the low bits of the sum of the inode number and the
 * superblock's address.
 *
 * Source: Lever 1999, section 5 ("an untransformed key"). Cost: an add, the mask. Weakness:
 * whatever regularity the keys have is the regularity of the table.
 */
#include "hash/mix/join.h"

static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return (u32)hash_sum(number, superblock) & hash_mask(bits);
}
