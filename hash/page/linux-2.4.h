/*
 * The page hash of Linux 2.4: s(i + index), where i comes of the mapping's address and s(x) = x +
 * (x >> bits).
 *
 * Source: Linux 2.4, _page_hashfn() in pagemap.h. Cost: as linux-2.2, and an add. Weakness: as
 * linux-2.2.
 */
static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	hash_word x = (hash_word)((inode + HASH_MAPPING_OFFSET) / HASH_INODE_LSB) +
		      (hash_word)(byte_offset >> 12);

	return (u32)(x + (x >> bits)) & hash_mask(bits);
}
