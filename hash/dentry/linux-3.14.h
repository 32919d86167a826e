/*
 * The dentry hash of Linux 3.14: h = name + parent / L1; h + (h >> bits).
 *
 * Source: Linux 3.14, d_hash() in dcache.c. Cost: two shifts, two adds, the mask. Weakness: leans
 * on the name hash.
 */
static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	hash_word h = (hash_word)name_hash + (hash_word)parent / HASH_L1_BYTES;

	return (u32)(h + (h >> bits)) & hash_mask(bits);
}
