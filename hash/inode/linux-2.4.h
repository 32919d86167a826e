/*
 * The inode hash of Linux 2.4: t = number | superblock / L1; t + (t >> bits) + (t >> 2 bits).
 *
 * Source: Linux 2.4, hash() in inode.c. Cost: as linux-2.2, and a shift. Weakness: the or still
 * loses bits of the number.
 */
static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	hash_word t = (hash_word)number | (hash_word)superblock / HASH_L1_BYTES;

	t += hash_right(t, bits) + hash_right(t, 2 * bits);
	return (u32)t & hash_mask(bits);
}
