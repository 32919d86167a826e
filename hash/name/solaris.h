/*
 * The name hash of Solaris: h = 17 h + c, from the parent's address >> 8.
 *
 * Source: Solaris, DNLCHASH in dnlc.c. Cost: three instructions a byte. Weakness: short names and
 * near parents stay near.
 */
static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = (u32)(salt >> 8);

	for (size_t i = 0; i < length; i++)
		h = 17 * h + (u8)name[i];
	return h;
}
