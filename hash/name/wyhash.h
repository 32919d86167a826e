/*
 * A name hash by folded multiplications: h = fold((h ^ word ^ A) * B) for eight bytes at a time,
 * from the length.
 *
 * Source: in the manner of Wang Yi, wyhash. Cost: a multiplication to 128 bits, three exclusive ors
 * for eight bytes. Weakness: no secret: collisions can be made.
 */
#include "hash/any/wyhash.h"

HASH_WORDS(u64, length, hash_wyhash(h ^ w, 0), (u32)(h ^ h >> 32))
