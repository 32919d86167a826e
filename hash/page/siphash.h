/*
 * The page hash by SipHash-1-3 with a key drawn at boot, on the page's index and the inode's
 * address.
 *
 * Source: Aumasson and Bernstein 2012. Cost: about 90 instructions. Weakness: the cost, which buys
 * that nobody can aim at a bucket.
 */
#include "hash/mix/siphash.h"

static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	return hash_top64(hash_siphash(byte_offset >> 12, inode), bits);
}
