/*
 * The buffer hash by MurmurHash3's finaliser, on the block and the device.
 *
 * Source: Appleby, MurmurHash3, fmix64(). Cost: a rotation, two multiplications, four shifts, four
 * exclusive ors. Weakness: no secret: collisions can be made.
 */
#include "hash/mix/murmur3.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return hash_top64(hash_murmur3(block, device), bits);
}
