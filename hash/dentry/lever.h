/*
 * Lever's dentry hash: linux-2.2 with sums for exclusive ors, h + (h >> bits) + (h >> 2 bits).
 *
 * Source: Lever 1999, section 3.3, "14 bit", and section 4, kernels A to D. Cost: as linux-2.2.
 * Weakness: as linux-2.2.
 */
static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	hash_word h = (hash_word)name_hash + (hash_word)parent;

	h += hash_right(h, bits) + hash_right(h, 2 * bits);
	return (u32)h & hash_mask(bits);
}
