/*
 * The name hash of XNU: CRC-32, the polynomial 0x04c11db7, highest bit first, from 0; 0 becomes 1.
 *
 * Source: XNU, hash_string() in vfs_cache.c, which has a table of 256. Cost: two loads a byte (of a
 * table of 16). Weakness: linear: collisions can be made.
 */
static const u32 hash_xnu_table[16] __maybe_unused = {
	0x00000000, 0x04c11db7, 0x09823b6e, 0x0d4326d9, 0x130476dc, 0x17c56b6b,
	0x1a864db2, 0x1e475005, 0x2608edb8, 0x22c9f00f, 0x2f8ad6d6, 0x2b4bcb61,
	0x350c9b64, 0x31cd86d3, 0x3c8ea00a, 0x384fbdbd,
};

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = 0;

	for (size_t i = 0; i < length; i++) {
		h ^= (u32)(u8)name[i] << 24;
		h = h << 4 ^ hash_xnu_table[h >> 28];
		h = h << 4 ^ hash_xnu_table[h >> 28];
	}
	return h ? h : 1;
}
