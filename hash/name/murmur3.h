/*
 * A name hash by MurmurHash3's finaliser: h = fmix64(h ^ word) for eight bytes at a time, from the
 * length.
 *
 * Source: Appleby, MurmurHash3, fmix64(). Cost: two multiplications, three shifts, four exclusive
 * ors for eight bytes. Weakness: no secret: collisions can be made.
 */
#include "hash/any/murmur3.h"

HASH_WORDS(u64, length, hash_fmix64(h ^ w), (u32)h)
