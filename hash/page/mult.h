/*
 * Lever's multiplicative page hash: (inode + offset) * 2654435761 >> (32 - bits), the low bits of
 * it.
 *
 * Source: Lever 1999, section 3.1, kernels "mult", A and B. Cost: an add, a multiplication, a
 * shift, the mask. Weakness: only the low 32 bits of the sum count, whatever the word; bytes that
 * are 2^32 apart collide.
 */
static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	hash_word product = ((hash_word)inode + (hash_word)byte_offset) * HASH_G32;

	return (u32)hash_right(product, 32 - bits) & hash_mask(bits);
}
