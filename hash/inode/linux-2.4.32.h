/*
 * The inode hash of Linux 2.4.32: t = number + superblock / L1; t + (t >> bits).
 *
 * Source: Linux 2.4.32, hash() in inode.c. Cost: two shifts, two adds, the mask. Weakness: runs of
 * numbers of two file systems may lie over each other.
 */
static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	hash_word t = (hash_word)number + (hash_word)superblock / HASH_L1_BYTES;

	return (u32)(t + (t >> bits)) & hash_mask(bits);
}
