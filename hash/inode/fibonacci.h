/*
 * The inode hash by the golden ratio: (sum of the inode number and the superblock's address) *
 * 0x61c88647, the top bits (0x61c8864680b583eb with 64-bit words).
 *
 * Source: Knuth, volume 3, 6.4; constants of Linux since 4.7. Cost: an add, a multiplication, a
 * shift. Weakness: keys whose sums are equal collide.
 */
#include "hash/mix/fibonacci.h"

static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return hash_fibonacci(hash_sum(number, superblock), bits);
}
