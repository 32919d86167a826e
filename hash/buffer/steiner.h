/*
 * Steiner's shift-add buffer hash: (block << 7) - block + (block >> 10) + (block >> 18).
 *
 * Source: Lever 1999, section 3.2, "shift-add", kernel B; 127 is a Mersenne prime. Cost: three
 * shifts, three adds, the mask. Weakness: the device does not count.
 */
static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	hash_word b = (hash_word)block;

	return (u32)((b << 7) - b + (b >> 10) + (b >> 18)) & hash_mask(bits);
}
