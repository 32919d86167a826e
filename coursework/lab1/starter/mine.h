/*
 * My buffer hash: the block's lowest bits.
 *
 * Source: the starter of lab 1. Cost: a mask. Weakness: that is for you to find out.
 */
static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return (u32)block & hash_mask(bits);
}
