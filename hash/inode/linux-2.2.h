/*
 * The inode hash of Linux 2.2.5: t = number | superblock; t + (t >> bits) + (t >> 2 bits).
 *
 * Source: Lever 1999, section 3.4. Cost: two shifts, two adds, an or, the mask. Weakness: the or
 * loses bits of the number wherever the superblock's address has ones.
 */
static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	hash_word t = (hash_word)number | (hash_word)superblock;

	t += hash_right(t, bits) + hash_right(t, 2 * bits);
	return (u32)t & hash_mask(bits);
}
