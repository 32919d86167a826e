/*
 * A name hash by CRC-32C, eight bytes at a time.
 *
 * Source: Castagnoli, Braeuer and Herrmann 1993; begins with the length. Cost: one instruction for
 * eight bytes with -mcrc32, else 16 loads. Weakness: linear: who knows the polynomial makes
 * collisions.
 */
#include "hash/any/crc32c.h"

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = (u32)length;

	while (length)
		h = hash_crc32c_word(h, hash_take(u64, &name, &length));
	return h;
}
