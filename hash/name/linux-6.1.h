/*
 * The name hash of Linux 6.1: two words, seeded with the parent, mixed by rotations and *9; folded
 * by multiplications.
 *
 * Source: Linux 6.1, full_name_hash() and HASH_MIX in namei.c. Cost: seven instructions for eight
 * bytes, four to fold. Weakness: zero bytes behind a name count as none.
 */
static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	hash_word x = 0, y = (hash_word)salt;

	while (length >= sizeof(x)) {
		x ^= hash_take(hash_word, &name, &length);
		y ^= x;
		x = hash_rotate_left(x, HASH_WORD_BITS == 64 ? 12 : 7) + y;
		y = hash_rotate_left(y, HASH_WORD_BITS == 64 ? 45 : 20) * 9;
	}
	if (length)
		x ^= hash_take(hash_word, &name, &length);
	return (u32)((y ^ x * HASH_GOLDEN_RATIO) * HASH_GOLDEN_RATIO >> (HASH_WORD_BITS - 32));
}
