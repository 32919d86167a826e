/*
 * The buffer hash by a multilinear function with keys drawn at boot, on the block and the device.
 *
 * Source: Lemire and Kaser 2014. Cost: four multiplications, four adds. Weakness: five loads of
 * keys.
 */
#include "hash/mix/multilinear.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return hash_top64(hash_multilinear(block, device), bits);
}
