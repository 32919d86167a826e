/*
 * Tweedie's addition to 2.2: s(o + entry), the swap entry unshifted as well.
 *
 * Source: Lever 1999, section 3.1, kernels "offset" and D. Cost: an add more than linux-2.2.
 * Weakness: the slot begins at the entry's bit 8, so that the low 8 bits of a bucket come of the
 * slot's higher ones alone.
 */
static inline u32 swap_hash(u32 type, u64 slot, unsigned bits)
{
	u64 entry = hash_swap_entry(type, slot);
	hash_word x = (hash_word)(entry >> 12) + (hash_word)entry;

	return (u32)(x + (x >> bits)) & hash_mask(bits);
}
