/*
 * The page hash of Linux 2.4 as the swap cache met it: s(entry), the swap entry being the page's
 * index, and s(x) = x + (x >> bits).
 *
 * Source: the page cache of Linux 2.4; the address of the swap cache's mapping is left out. Cost: a
 * shift for the entry, one more, an add, the mask. Weakness: as "offset", which it resembles.
 */
static inline u32 swap_hash(u32 type, u64 slot, unsigned bits)
{
	hash_word x = (hash_word)hash_swap_entry(type, slot);

	return (u32)(x + (x >> bits)) & hash_mask(bits);
}
