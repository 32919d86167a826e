/*
 * The page hash by a multilinear function with keys drawn at boot, on the page's index and the
 * inode's address.
 *
 * Source: Lemire and Kaser 2014. Cost: four multiplications, four adds. Weakness: five loads of
 * keys.
 */
#include "hash/mix/multilinear.h"

static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	return hash_top64(hash_multilinear(byte_offset >> 12, inode), bits);
}
