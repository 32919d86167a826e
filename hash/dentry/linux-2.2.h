/*
 * The dentry hash of Linux 2.2.5: h = name + parent; h ^ (h >> bits) ^ (h >> 2 bits).
 *
 * Source: Lever 1999, section 3.3. Cost: two shifts, an add, two exclusive ors, the mask. Weakness:
 * parents are slab objects: their low bits are constant, and neighbours differ little.
 */
static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	hash_word h = (hash_word)name_hash + (hash_word)parent;

	h ^= hash_right(h, bits) ^ hash_right(h, 2 * bits);
	return (u32)h & hash_mask(bits);
}
