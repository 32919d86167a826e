/*
 * The default of the package of Seltzer and Yigit 1991: h = 33 h + c (Torek).
 *
 * Source: the 1991 package, hash4(). Cost: two instructions a byte. Weakness: short names fill few
 * of the 32 bits.
 */
static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = 0;

	for (size_t i = 0; i < length; i++)
		h = 33 * h + (u8)name[i];
	return h;
}
