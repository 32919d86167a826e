/*
 * The inode hash by a folded multiplication, on the inode number and the superblock's address.
 *
 * Source: Wang Yi, wyhash. Cost: two exclusive ors, a multiplication to 128 bits, an exclusive or,
 * a shift. Weakness: no secret; a part that equals its constant hides the other.
 */
#include "hash/mix/wyhash.h"

static inline u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
{
	return hash_top64(hash_wyhash(number, superblock), bits);
}
