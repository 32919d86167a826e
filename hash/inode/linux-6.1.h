/*
 * The inode hash of Linux 6.1: Santos's with the golden ratio itself in place of the prime.
 *
 * Source: Linux 6.1, hash() in inode.c. Cost: as linux-2.6. Weakness: as linux-2.6.
 */
static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	hash_word t = (hash_word)number * (hash_word)superblock;

	t ^= (HASH_GOLDEN_RATIO + (hash_word)number) / HASH_L1_BYTES;
	return (u32)(t ^ ((t ^ HASH_GOLDEN_RATIO) >> bits)) & hash_mask(bits);
}
