/*
 * Lever's multiplicative buffer hash with a shift by the table's size: block * 2654435761 >> (31 -
 * bits).
 *
 * Source: Lever 1999, section 3.2, "mult, shift 16, 17, 18" at 15, 14, 13 bits. Cost: as mult.
 * Weakness: the device does not count; 31 and not 32: the mask drops the 32-bit product's highest
 * bit, which is its best.
 */
static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return (u32)hash_right((hash_word)block * HASH_G32, 31 - bits) & hash_mask(bits);
}
