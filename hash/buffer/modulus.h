/*
 * The buffer hash by division: the sum of the block and the device, modulo the largest prime that
 * is not larger than the table.
 *
 * Source: Knuth, volume 3, 6.4; Lever 1999, section 5. Cost: an add, a load and a division (20 to
 * 40 cycles). Weakness: the buckets behind the prime stay empty.
 */
#include "hash/mix/modulus.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return hash_modulus(hash_sum(block, device), bits);
}
