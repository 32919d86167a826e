/*
 * The page hash by Pearson's table of bytes, on the page's index and the inode's address.
 *
 * Source: Pearson 1990; Lever 1999, appendix B. Cost: 64 loads, each waiting for one before it.
 * Weakness: slow; the four walks are not independent.
 */
#include "hash/mix/pearson.h"

static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	return hash_top32(hash_pearson(byte_offset >> 12, inode), bits);
}
