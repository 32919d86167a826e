/*
 * Santos's first inode hash, withdrawn an hour later: t = (number + superblock) ^ ((G + number) /
 * L1); t + ((t ^ G) >> bits), G the golden prime.
 *
 * Source: Santos's first mail of 30 April 2004; what was merged is linux-2.6. Cost: three adds, two
 * shifts, two exclusive ors, the mask. Weakness: number + superblock lets the numbers of
 * neighbouring file systems lie over each other, as linux-2.6.5 does.
 */
static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	hash_word t = (hash_word)number + (hash_word)superblock;

	t ^= (HASH_GOLDEN_PRIME + (hash_word)number) / HASH_L1_BYTES;
	return (u32)(t + ((t ^ HASH_GOLDEN_PRIME) >> bits)) & hash_mask(bits);
}
