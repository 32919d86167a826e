/*
 * The name hash of Linux 2.6: h = (h + (c << 4) + (c >> 4)) * 11 for each byte.
 *
 * Source: Linux 2.6, partial_name_hash() in dcache.h. Cost: about five instructions a byte.
 * Weakness: short names fill few of the 32 bits.
 */
static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	hash_word h = 0;

	for (size_t i = 0; i < length; i++)
		h = (h + ((hash_word)(u8)name[i] << 4) + ((u8)name[i] >> 4)) * 11;
	return (u32)h;
}
