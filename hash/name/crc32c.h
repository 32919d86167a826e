/*
 * A name hash by CRC-32C, eight bytes at a time.
 *
 * Source: Castagnoli, Braeuer and Herrmann 1993; begins with the length. Cost: one instruction for
 * eight bytes with -mcrc32, else 16 loads. Weakness: linear: who knows the polynomial makes
 * collisions.
 */
#include "hash/mix/name_word.h"

#include "hash/mix/crc32c.h"

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = (u32)length;

	(void)salt;
	for (; length >= 8; length -= 8, name += 8)
		h = hash_crc32c_word(h, hash_load64(name));
	if (length)
		h = hash_crc32c_word(h, hash_first_bytes64(hash_load64(name), length));
	return h;
}
