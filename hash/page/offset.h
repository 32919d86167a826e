/*
 * Tweedie's addition to 2.2: s(i + o + offset), the byte offset unshifted as well.
 *
 * Source: Lever 1999, section 3.1, kernels "offset" and D. Cost: one add more than linux-2.2.
 * Weakness: meant for offsets that are not whole pages: the swap entries of 2.2, and of a kernel
 * with SWAP=y. For pages of files it multiplies the index by 4097.
 */
static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	hash_word x = (hash_word)(inode / HASH_INODE_LSB) + (hash_word)(byte_offset >> 12) +
		      (hash_word)byte_offset;

	return (u32)(x + (x >> bits)) & hash_mask(bits);
}
