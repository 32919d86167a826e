/*
 * The inode hash by SipHash-1-3 with a key drawn at boot, on the inode number and the superblock's
 * address.
 *
 * Source: Aumasson and Bernstein 2012. Cost: about 90 instructions. Weakness: the cost, which buys
 * that nobody can aim at a bucket.
 */
#include "hash/mix/siphash.h"

static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return hash_top64(hash_siphash(number, superblock), bits);
}
