/*
 * The dentry hash by a multilinear function with keys drawn at boot, on the name hash and the
 * parent's address.
 *
 * Source: Lemire and Kaser 2014. Cost: four multiplications, four adds. Weakness: five loads of
 * keys.
 */
#include "hash/mix/multilinear.h"

static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	return hash_top64(hash_multilinear(name_hash, parent), bits);
}
