/*
 * A name hash by Pearson's table of bytes: four walks at once.
 *
 * Source: Pearson 1990. Cost: four loads a byte, each waiting for one before it. Weakness: slow;
 * the four walks are not independent.
 */
#include "hash/any/pearson.h"

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = HASH_PEARSON_BEGIN;

	for (size_t i = 0; i < length; i++)
		h = hash_pearson_byte(h, (u8)name[i]);
	return h;
}
