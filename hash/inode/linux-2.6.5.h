/*
 * The inode hash of Linux 2.6.5, which Santos's patch replaced: t = number + superblock / L1; t +
 * (t >> bits).
 *
 * Source: Linux 2.6.5, hash() in inode.c, the baseline of Santos 2004; 2.4.32 has the same. Cost:
 * two shifts, two adds, the mask. Weakness: superblocks are slab objects, L1-sized steps apart, so
 * that the numbers of all file systems lie over each other.
 */
static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	hash_word t = (hash_word)number + (hash_word)superblock / HASH_L1_BYTES;

	return (u32)(t + (t >> bits)) & hash_mask(bits);
}
