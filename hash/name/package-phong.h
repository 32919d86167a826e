/*
 * A function of the package of Seltzer and Yigit 1991: h = 0x63c63cd9 h + 0x9c39c33d + c (Phong).
 *
 * Source: the 1991 package, hash2(). Cost: a multiplication and two adds a byte. Weakness: the last
 * byte changes the low bits only.
 */
static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = 0;

	for (size_t i = 0; i < length; i++)
		h = 0x63c63cd9 * h + 0x9c39c33d + (u8)name[i];
	return h;
}
