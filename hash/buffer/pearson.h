/*
 * The buffer hash by Pearson's table of bytes, on the block and the device.
 *
 * Source: Pearson 1990; Lever 1999, appendix B. Cost: 64 loads, each waiting for one before it.
 * Weakness: slow; the four walks are not independent.
 */
#include "hash/mix/pearson.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return hash_top32(hash_pearson(block, device), bits);
}
