/*
 * The dentry hash by CRC-32C, on the name hash and the parent's address.
 *
 * Source: Castagnoli, Braeuer and Herrmann 1993. Cost: two instructions with -mcrc32, else 32
 * loads. Weakness: linear: who knows the polynomial makes collisions.
 */
#include "hash/mix/crc32c.h"

static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	return hash_top32(hash_crc32c(name_hash, parent), bits);
}
