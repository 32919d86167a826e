/*
 * The page hash by CRC-32C, on the page's index and the inode's address.
 *
 * Source: Castagnoli, Braeuer and Herrmann 1993. Cost: two instructions with -mcrc32, else 32
 * loads. Weakness: linear: who knows the polynomial makes collisions.
 */
#include "hash/mix/crc32c.h"

static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	return hash_top32(hash_crc32c(byte_offset >> 12, inode), bits);
}
