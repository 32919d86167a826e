/*
 * The page hash by the golden ratio: (sum of the page's index and the inode's address) *
 * 0x61c88647, the top bits (0x61c8864680b583eb with 64-bit words).
 *
 * Source: Knuth, volume 3, 6.4; constants of Linux since 4.7. Cost: an add, a multiplication, a
 * shift. Weakness: keys whose sums are equal collide.
 */
#include "hash/mix/fibonacci.h"

static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	return hash_fibonacci(hash_sum(byte_offset >> 12, inode), bits);
}
