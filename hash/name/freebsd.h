/*
 * The name hash of FreeBSD: FNV-1 in 32 bits, h = h * 0x01000193 ^ c from 0x811c9dc5.
 *
 * Source: Fowler, Noll and Vo; FreeBSD, cache_get_hash() in vfs_cache.c, which hashes the
 * directory's address behind the name (here the dentry hash adds it). Cost: a multiplication and an
 * exclusive or a byte. Weakness: the last byte changes the low 8 bits only.
 */
static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = 0x811c9dc5;

	for (size_t i = 0; i < length; i++)
		h = h * 0x01000193 ^ (u8)name[i];
	return h;
}
