/*
 * The buffer hash that does nothing: the low bits of the sum of the block and the device.
 *
 * Source: Lever 1999, section 5 ("an untransformed key"). Cost: an add, the mask. Weakness:
 * whatever regularity the keys have is the regularity of the table.
 */
#include "hash/mix/join.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return (u32)hash_sum(block, device) & hash_mask(bits);
}
