/*
 * The dentry hash of Linux 2.6.5, which Santos's patch replaced: h = name + parent / L1; h ^ (h >>
 * bits).
 *
 * Source: Linux 2.6.5, d_hash() in dcache.c, the baseline of Santos 2004. Cost: two shifts, an add,
 * an exclusive or, the mask. Weakness: names that differ by as much as their parents collide; bits
 * of h above twice the table's size are lost.
 */
static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	hash_word h = (hash_word)name_hash + (hash_word)parent / HASH_L1_BYTES;

	return (u32)(h ^ (h >> bits)) & hash_mask(bits);
}
