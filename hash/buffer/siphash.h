/*
 * The buffer hash by SipHash-1-3 with a key drawn at boot, on the block and the device.
 *
 * Source: Aumasson and Bernstein 2012. Cost: about 90 instructions. Weakness: the cost, which buys
 * that nobody can aim at a bucket.
 */
#include "hash/mix/siphash.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return hash_top64(hash_siphash(block, device), bits);
}
