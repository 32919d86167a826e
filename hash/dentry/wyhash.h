/*
 * The dentry hash by a folded multiplication, on the name hash and the parent's address.
 *
 * Source: Wang Yi, wyhash. Cost: two exclusive ors, a multiplication to 128 bits, an exclusive or,
 * a shift. Weakness: no secret; a part that equals its constant hides the other.
 */
#include "hash/mix/wyhash.h"

static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	return hash_top64(hash_wyhash(name_hash, parent), bits);
}
