/*
 * The buffer hash by the golden ratio: (sum of the block and the device) * 0x61c88647, the top bits
 * (0x61c8864680b583eb with 64-bit words).
 *
 * Source: Knuth, volume 3, 6.4; constants of Linux since 4.7. Cost: an add, a multiplication, a
 * shift. Weakness: keys whose sums are equal collide (blocks of two devices as far apart as their
 * numbers).
 */
#include "hash/mix/fibonacci.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return hash_fibonacci(hash_sum(block, device), bits);
}
