/*
 * Santos's inode hash of Linux 2.6: t = (number * superblock) ^ (G + number) / L1; t ^ ((t ^ G) >>
 * bits), G the golden prime.
 *
 * Source: Santos 2004 (Linux 2.6.6). Cost: a multiplication, an add, two shifts, three exclusive
 * ors, the mask. Weakness: the superblock's address is a multiple of 64 or more, so the product
 * says nothing of the lowest bits.
 */
static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	hash_word t = (hash_word)number * (hash_word)superblock;

	t ^= (HASH_GOLDEN_PRIME + (hash_word)number) / HASH_L1_BYTES;
	return (u32)(t ^ ((t ^ HASH_GOLDEN_PRIME) >> bits)) & hash_mask(bits);
}
