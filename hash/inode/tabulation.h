/*
 * The inode hash by simple tabulation, on the inode number and the superblock's address.
 *
 * Source: Zobrist 1970; Patrascu and Thorup 2012; Lever 1999, appendix B. Cost: 16 loads from 16 KB
 * of tables. Weakness: the tables push other data out of the cache.
 */
#include "hash/mix/tabulation.h"

static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return hash_top32(hash_tabulation(number, superblock), bits);
}
