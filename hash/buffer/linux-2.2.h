/*
 * The buffer hash of Linux 2.2.5: device ^ block.
 *
 * Source: Lever 1999, section 3.2. Cost: an exclusive or, the mask. Weakness: blocks that differ by
 * a multiple of the table's size share a bucket, and ext2 puts its metadata at such distances.
 */
static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return (u32)((hash_word)device ^ (hash_word)block) & hash_mask(bits);
}
