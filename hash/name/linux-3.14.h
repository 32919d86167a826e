/*
 * The name hash of Linux 3.14: h = (h + word) * 9 for each word of the name, the rest added; folded
 * by adding the halves.
 *
 * Source: Linux 3.14, full_name_hash() in namei.c. Cost: four instructions for eight bytes.
 * Weakness: names of up to seven bytes are not mixed at all, but for the fold.
 */
static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	hash_word h = 0;

	while (length >= sizeof(h))
		h = (h + hash_take(hash_word, &name, &length)) * 9;
	if (length)
		h += hash_take(hash_word, &name, &length);
	return (u32)(h + hash_right(h, 32));
}
