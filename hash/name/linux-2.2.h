/*
 * The name hash of Linux 2.2: h = rotl(h, 4) ^ c for each byte, the 64-bit word folded in the end.
 *
 * Source: Lever 1999, section 3.3 (full_name_hash). Cost: two instructions a byte. Weakness: a byte's influence
 * meets that of the byte sixteen places on.
 */
#ifndef HASH_NAME_LINUX_2_2_H
#define HASH_NAME_LINUX_2_2_H

#include "hash/cache.h"

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u64 h = 0;

	(void)salt;
	for (size_t i = 0; i < length; i++)
		h = (h << 4 | h >> 60) ^ (u8)name[i];
	return (u32)h + (u32)(h >> 32);
}

#endif
