/*
 * The buffer hash by simple tabulation, on the block and the device.
 *
 * Source: Zobrist 1970; Patrascu and Thorup 2012; Lever 1999, appendix B. Cost: 16 loads from 16 KB
 * of tables. Weakness: the tables push other data out of the cache.
 */
#include "hash/mix/tabulation.h"

static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)
{
	return hash_top32(hash_tabulation(block, device), bits);
}
