/*
 * A function of the package of Seltzer and Yigit 1991: h = 37 h ^ (c - 32), modulo 1048583 in the
 * end.
 *
 * Source: the 1991 package, hash1(). Cost: three instructions a byte, and a division. Weakness:
 * gives 20 bits: needs a dentry hash that mixes.
 */
static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = 0;

	for (size_t i = 0; i < length; i++)
		h = 37 * h ^ ((u32)(u8)name[i] - 32);
	return h % 1048583;
}
