/*
 * The buffer hash by a folded multiplication, on the block and the device.
 *
 * Source: Wang Yi, wyhash. Cost: two exclusive ors, a multiplication to 128 bits, an exclusive or,
 * a shift. Weakness: no secret; a part that equals its constant hides the other.
 */
#include "hash/mix/wyhash.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return hash_top64(hash_wyhash(block, device), bits);
}
