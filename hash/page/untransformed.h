/*
 * The page hash that does nothing: the low bits of the sum of the page's index and the inode's
 * address.
 *
 * Source: Lever 1999, section 5 ("an untransformed key"). Cost: an add, the mask. Weakness:
 * whatever regularity the keys have is the regularity of the table.
 */
#include "hash/mix/join.h"

static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	return (u32)hash_sum(byte_offset >> 12, inode) & hash_mask(bits);
}
