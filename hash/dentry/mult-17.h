/*
 * Lever's multiplicative dentry hash: (name + parent) * 2654435761 >> 17.
 *
 * Source: Lever 1999, section 3.3, "mult, shift 17". Cost: an add, a multiplication, a shift, the
 * mask. Weakness: with 32-bit words a product has 15 bits to give, so that larger tables are not
 * filled.
 */
static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	hash_word h = (hash_word)name_hash + (hash_word)parent;

	return (u32)hash_right(h * HASH_G32, 17) & hash_mask(bits);
}
