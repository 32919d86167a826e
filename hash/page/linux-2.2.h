/*
 * The page hash of Linux 2.2.5: s(i + o) where s(x) = x + (x >> bits).
 *
 * Source: Lever 1999, section 3.1. i is the inode's address divided by the lowest set bit of its size, o the
 * page number. Cost: two shifts, two adds. Weakness: consecutive pages of two inodes overlap in the table.
 */
#ifndef HASH_PAGE_LINUX_2_2_H
#define HASH_PAGE_LINUX_2_2_H

#include "hash/cache.h"

static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	hash_word x = (hash_word)(inode / PAGE_HASH_INODE_ALIGN) + (hash_word)(byte_offset >> 12);

	return (u32)((x + (x >> bits)) & (((hash_word)1 << bits) - 1));
}

#endif
