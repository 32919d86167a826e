/*
 * The name hash of Linux 6.1: two words, seeded with the parent, mixed by rotations and *9; folded
 * by multiplications.
 *
 * Source: Linux 6.1, full_name_hash() and HASH_MIX in namei.c. Cost: seven instructions for eight
 * bytes, four to fold. Weakness: zero bytes behind a name count as none.
 */
#include "hash/mix/name_word.h"

#if HASH_WORD_BITS == 64
#define HASH_MIX_ROTATE(word, count64, count32) hash_rotate_left64(word, count64)
#else
#define HASH_MIX_ROTATE(word, count64, count32) hash_rotate_left32(word, count32)
#endif

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	hash_word x = 0, y = (hash_word)salt;

	for (; length >= HASH_WORD_BYTES; length -= HASH_WORD_BYTES, name += HASH_WORD_BYTES) {
		x ^= hash_load_word(name);
		y ^= x;
		x = HASH_MIX_ROTATE(x, 12, 7) + y;
		y = HASH_MIX_ROTATE(y, 45, 20) * 9;
	}
	if (length)
		x ^= hash_first_bytes(hash_load_word(name), length);
#if HASH_WORD_BITS == 64
	return (u32)((y ^ x * HASH_GOLDEN_RATIO) * HASH_GOLDEN_RATIO >> 32);
#else
	return (y ^ x * HASH_GOLDEN_RATIO) * HASH_GOLDEN_RATIO;
#endif
}
