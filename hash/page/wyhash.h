/*
 * The page hash by a folded multiplication, on the page's index and the inode's address.
 *
 * Source: Wang Yi, wyhash. Cost: two exclusive ors, a multiplication to 128 bits, an exclusive or,
 * a shift. Weakness: no secret; a part that equals its constant hides the other.
 */
#include "hash/mix/wyhash.h"

static inline u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
{
	return hash_top64(hash_wyhash(byte_offset >> 12, inode), bits);
}
