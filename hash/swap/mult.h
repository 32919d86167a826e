/*
 * Lever's multiplicative page hash on swap entries: entry * 2654435761 >> (32 - bits), the low bits
 * of it.
 *
 * Source: Lever 1999, section 3.1, kernel "mult", without the inode. Cost: a multiplication, a
 * shift, the mask. Weakness: the entry's lowest 8 bits, which differ little, take part; areas whose
 * slots are 2^24 apart collide.
 */
static inline u32 swap_hash(u32 type, u64 slot, unsigned bits)
{
	hash_word product = (hash_word)hash_swap_entry(type, slot) * HASH_G32;

	return (u32)hash_right(product, 32 - bits) & hash_mask(bits);
}
