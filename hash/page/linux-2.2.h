/*
 * The page hash of Linux 2.2.5: s(i + o), where s(x) = x + (x >> bits).
 *
 * Source: Lever 1999, section 3.1; i is the inode's address without its constant low bits, o the
 * page's index. Cost: three shifts, two adds, the mask. Weakness: the last pages of a file meet the
 * first ones of the inode behind it.
 */
static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	hash_word x = (hash_word)(inode / HASH_INODE_LSB) + (hash_word)(byte_offset >> 12);

	return (u32)(x + (x >> bits)) & hash_mask(bits);
}
