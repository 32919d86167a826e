/*
 * The page hash by simple tabulation, on the page's index and the inode's address.
 *
 * Source: Zobrist 1970; Patrascu and Thorup 2012; Lever 1999, appendix B. Cost: 16 loads from 16 KB
 * of tables. Weakness: the tables push other data out of the cache.
 */
#include "hash/mix/tabulation.h"

static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	return hash_top32(hash_tabulation(byte_offset >> 12, inode), bits);
}
