/*
 * A name hash by MurmurHash3's finaliser: h = fmix64(h ^ word) for eight bytes at a time, from the
 * length.
 *
 * Source: Appleby, MurmurHash3, fmix64(). Cost: two multiplications, three shifts, four exclusive
 * ors for eight bytes. Weakness: no secret: collisions can be made.
 */
#include "hash/any/murmur3.h"

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u64 h = length;

	while (length)
		h = hash_fmix64(h ^ hash_take(u64, &name, &length));
	return (u32)h;
}
