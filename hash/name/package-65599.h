/*
 * A function of the package of Seltzer and Yigit 1991: h = 65599 h + c (Yigit's sdbm).
 *
 * Source: the 1991 package, hash3(). Cost: a multiplication and an add a byte. Weakness: the last
 * byte changes the low bits only.
 */
static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = 0;

	for (size_t i = 0; i < length; i++)
		h = 65599 * h + (u8)name[i];
	return h;
}
