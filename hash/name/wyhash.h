/*
 * A name hash by folded multiplications: h = fold((h ^ word ^ A) * B) for eight bytes at a time,
 * from the length.
 *
 * Source: in the manner of Wang Yi, wyhash. Cost: a multiplication to 128 bits, three exclusive ors
 * for eight bytes. Weakness: no secret: collisions can be made.
 */
#include "hash/any/wyhash.h"

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u64 h = length;

	while (length)
		h = hash_wyhash(h ^ hash_take(u64, &name, &length), 0);
	return (u32)(h ^ h >> 32);
}
