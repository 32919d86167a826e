/*
 * The dentry hash by SipHash-1-3 with a key drawn at boot, on the name hash and the parent's
 * address.
 *
 * Source: Aumasson and Bernstein 2012. Cost: about 90 instructions. Weakness: the cost, which buys
 * that nobody can aim at a bucket.
 */
#include "hash/mix/siphash.h"

static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	return hash_top64(hash_siphash(name_hash, parent), bits);
}
