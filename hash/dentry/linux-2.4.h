/*
 * The dentry hash of Linux 2.4: h = name + parent / L1; h ^ (h >> bits) ^ (h >> 2 bits).
 *
 * Source: Linux 2.4, d_hash() in dcache.c. Cost: a shift more than linux-2.2. Weakness: names that
 * differ by as much as their parents collide.
 */
static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	hash_word h = (hash_word)name_hash + (hash_word)parent / HASH_L1_BYTES;

	h ^= hash_right(h, bits) ^ hash_right(h, 2 * bits);
	return (u32)h & hash_mask(bits);
}
