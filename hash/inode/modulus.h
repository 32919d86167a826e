/*
 * The inode hash by division: the sum of the inode number and the superblock's address, modulo the
 * largest prime that is not larger than the table.
 *
 * Source: Knuth, volume 3, 6.4; Lever 1999, section 5. Cost: an add, a load and a division (20 to
 * 40 cycles). Weakness: the buckets behind the prime stay empty.
 */
#include "hash/mix/modulus.h"

static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return hash_modulus(hash_sum(number, superblock), bits);
}
