/*
 * The dentry hash by division: the sum of the name hash and the parent's address, modulo the
 * largest prime that is not larger than the table.
 *
 * Source: Knuth, volume 3, 6.4; Lever 1999, section 5. Cost: an add, a load and a division (20 to
 * 40 cycles). Weakness: the buckets behind the prime stay empty.
 */
#include "hash/mix/modulus.h"

static inline u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
{
	return hash_modulus(hash_sum(name_hash, parent), bits);
}
