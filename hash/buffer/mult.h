/*
 * Lever's multiplicative buffer hash with a fixed shift: block * 2654435761 >> 11.
 *
 * Source: Lever 1999, section 3.2, "mult, shift 11", kernels A, C and D. Cost: a multiplication, a
 * shift, the mask. Weakness: the device does not count; with 32-bit words a product has 21 bits to
 * give, so that larger tables are not filled.
 */
static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return (u32)hash_right((hash_word)block * HASH_G32, 11) & hash_mask(bits);
}
