/*
 * The dentry hash by simple tabulation, on the name hash and the parent's address.
 *
 * Source: Zobrist 1970; Patrascu and Thorup 2012; Lever 1999, appendix B. Cost: 16 loads from 16 KB
 * of tables. Weakness: the tables push other data out of the cache.
 */
#include "hash/mix/tabulation.h"

static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	return hash_top32(hash_tabulation(name_hash, parent), bits);
}
