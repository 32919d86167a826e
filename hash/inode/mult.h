/*
 * Lever's multiplicative inode hash: (number | superblock) * 2654435761 >> 11.
 *
 * Source: Lever 1999, section 3.4, table 5: "the multiplicative hash function introduced above", on
 * the key that the old one took. Cost: an or, a multiplication, a shift, the mask. Weakness: the
 * or, as in linux-2.2.
 */
static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return (u32)hash_right(((hash_word)number | (hash_word)superblock) * HASH_G32, 11) &
	       hash_mask(bits);
}
