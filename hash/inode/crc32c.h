/*
 * The inode hash by CRC-32C, on the inode number and the superblock's address.
 *
 * Source: Castagnoli, Braeuer and Herrmann 1993. Cost: two instructions with -mcrc32, else 32
 * loads. Weakness: linear: who knows the polynomial makes collisions.
 */
#include "hash/mix/crc32c.h"

static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return hash_top32(hash_crc32c(number, superblock), bits);
}
