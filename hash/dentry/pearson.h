/*
 * The dentry hash by Pearson's table of bytes, on the name hash and the parent's address.
 *
 * Source: Pearson 1990; Lever 1999, appendix B. Cost: 64 loads, each waiting for one before it.
 * Weakness: slow; the four walks are not independent.
 */
#include "hash/mix/pearson.h"

static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	return hash_top32(hash_pearson(name_hash, parent), bits);
}
