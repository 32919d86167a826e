/*
 * The buffer hash by CRC-32C, on the block and the device.
 *
 * Source: Castagnoli, Braeuer and Herrmann 1993. Cost: two instructions with -mcrc32, else 32
 * loads. Weakness: linear: who knows the polynomial makes collisions.
 */
#include "hash/mix/crc32c.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return hash_top32(hash_crc32c(block, device), bits);
}
