/*
 * The dentry hash that does nothing: the low bits of the sum of the name hash and the parent's
 * address.
 *
 * Source: Lever 1999, section 5 ("an untransformed key"). Cost: an add, the mask. Weakness:
 * whatever regularity the keys have is the regularity of the table.
 */
#include "hash/mix/join.h"

static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	return (u32)hash_sum(name_hash, parent) & hash_mask(bits);
}
