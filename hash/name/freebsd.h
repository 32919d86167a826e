/*
 * The name hash of FreeBSD: FNV-1 in 32 bits, h = h * 0x01000193 ^ c from 0x811c9dc5.
 *
 * Source: Fowler, Noll and Vo; FreeBSD, cache_get_hash() in vfs_cache.c, which hashes the
 * directory's address behind the name (here the dentry hash adds it). Cost: a multiplication and an
 * exclusive or a byte. Weakness: the last byte changes the low 8 bits only.
 */
HASH_BYTES(u32, 0x811c9dc5, h * 0x01000193 ^ c, h)
