/*
 * The dentry hash by MurmurHash3's finaliser, on the name hash and the parent's address.
 *
 * Source: Appleby, MurmurHash3, fmix64(). Cost: a rotation, two multiplications, four shifts, four
 * exclusive ors. Weakness: no secret: collisions can be made.
 */
#include "hash/mix/murmur3.h"

static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	return hash_top64(hash_murmur3(name_hash, parent), bits);
}
