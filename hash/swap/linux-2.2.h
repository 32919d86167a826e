/*
 * The page hash of Linux 2.2.5 as the swap cache met it: s(o), where o is the swap entry without
 * its low 12 bits, and s(x) = x + (x >> bits).
 *
 * Source: Lever 1999, section 3.1; the address of the one inode of the swap cache, which moves all
 * pages alike, is left out. Cost: three shifts, an add, the mask. Weakness: the 12 bits have the
 * area and four bits of the slot in them, so that 16 neighbours share a bucket.
 */
static inline u32 swap_hash(u32 type, u64 slot, unsigned bits)
{
	hash_word x = (hash_word)(hash_swap_entry(type, slot) >> 12);

	return (u32)(x + (x >> bits)) & hash_mask(bits);
}
