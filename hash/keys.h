/*
 * keys.h - the random numbers of the keyed functions (shared.h), and how they are drawn. For
 * random.c alone, in a kernel with a function that may be keyed.
 */
u64 hash_siphash_key[2];
u64 hash_multilinear_keys[HASH_MULTILINEAR_KEYS];
u8 hash_pearson_table[256];
u32 hash_tabulation_table[HASH_TABULATION_BYTES][256];

/* Each begins at the seed itself. */
static void draw_keys(u64 seed)
{
	u64 state = seed;

	for (unsigned i = 0; i < ARRAY_SIZE(hash_multilinear_keys); i++)
		hash_multilinear_keys[i] = splitmix64(&state);
	memcpy(hash_siphash_key, hash_multilinear_keys, sizeof(hash_siphash_key));

	state = seed;
	for (unsigned i = 0; i < HASH_TABULATION_BYTES * 256; i++)
		hash_tabulation_table[i / 256][i % 256] = (u32)(splitmix64(&state) >> 32);

	state = seed;
	for (unsigned i = 0; i < 256; i++)
		hash_pearson_table[i] = (u8)i;
	for (unsigned i = 255; i > 0; i--) {
		u64 j = splitmix64(&state) % (i + 1);
		u8 swap = hash_pearson_table[i];

		hash_pearson_table[i] = hash_pearson_table[j];
		hash_pearson_table[j] = swap;
	}
}
