/*
 * The name hash of Linux 6.1: two words, seeded with the parent, mixed by rotations and *9; folded
 * by multiplications.
 *
 * Source: Linux 6.1, full_name_hash() and HASH_MIX in namei.c. Cost: seven instructions for eight
 * bytes, four to fold. Weakness: zero bytes behind a name count as none.
 */
struct name_hash {
	hash_word x, y;
};

static __always_inline struct name_hash name_hash_begin(uintptr_t salt)
{
	return (struct name_hash){0, (hash_word)salt};
}

static __always_inline void name_hash_word(struct name_hash *hash, hash_word word)
{
	hash->x ^= word;
	hash->y ^= hash->x;
	hash->x = hash_rotate_left(hash->x, HASH_WORD_BITS == 64 ? 12 : 7) + hash->y;
	hash->y = hash_rotate_left(hash->y, HASH_WORD_BITS == 64 ? 45 : 20) * 9;
}

static __always_inline u32 name_hash_end(const struct name_hash *hash, hash_word rest)
{
	hash_word x = hash->x ^ rest;

	return (u32)((hash->y ^ x * HASH_GOLDEN_RATIO) * HASH_GOLDEN_RATIO >>
		     (HASH_WORD_BITS - 32));
}

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	struct name_hash hash = name_hash_begin(salt);

	while (length >= sizeof(hash_word))
		name_hash_word(&hash, hash_take(hash_word, &name, &length));
	return name_hash_end(&hash, length ? hash_take(hash_word, &name, &length) : 0);
}

#define NAME_HASH_STREAMS (HASH_WORD_BITS == 64)
