/*
 * The inode hash by a multilinear function with keys drawn at boot, on the inode number and the
 * superblock's address.
 *
 * Source: Lemire and Kaser 2014. Cost: four multiplications, four adds. Weakness: five loads of
 * keys.
 */
#include "hash/mix/multilinear.h"

static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return hash_top64(hash_multilinear(number, superblock), bits);
}
