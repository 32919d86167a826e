/*
 * The dentry hash of Linux 6.1: the highest bits of the name hash, which the parent has salted.
 *
 * Source: Linux 6.1, d_hash() in dcache.c. Cost: one shift. Weakness: needs a name hash that takes
 * the parent in: with another, one name in all directories is one chain.
 */
static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	return hash_top(name_hash, bits);
}
