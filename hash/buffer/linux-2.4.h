/*
 * The buffer hash of Linux 2.4: device and block, shifted to several places by the table's size,
 * xored.
 *
 * Source: Linux 2.4, _hashfn() in buffer.c. Cost: five shifts, four exclusive ors, the mask.
 * Weakness: made for at least 12 bits: below, a left shift by a negative count is a right shift
 * here.
 */
static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	hash_word d = device, b = (hash_word)block;
	int n = (int)bits;

	return (u32)(hash_shift(d, n - 6) ^ hash_shift(d, n - 9) ^ hash_shift(b, n - 6) ^
		     (b >> 13) ^ hash_shift(b, n - 12)) &
	       hash_mask(bits);
}
