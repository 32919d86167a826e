/*
 * A solution of lab 1: block and device mixed by multiplications and shifts until every bit of the
 * key counts for every bit of the bucket.
 *
 * Source: the finalizer of MurmurHash3, over the block and the device multiplied by the golden
 * ratio. Cost: three multiplications, four shifts, four exclusive ors. Weakness: runs of blocks,
 * which block & mask would spread perfectly, are only spread as chance would.
 */
static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	u64 x = block ^ device * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
	return (u32)((x ^ x >> 33) >> (64 - bits));
}
