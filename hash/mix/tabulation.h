/*
 * tabulation.h - simple tabulation (Zobrist 1970; Patrascu and Thorup 2012): the xor of one random
 * number for each byte of the key.
 *
 * 3-independent, and as good as truly random for chains. 16 loads from a table of 16 KB, which
 * pushes other data out of the cache (Lever 1999, appendix B). The numbers are drawn at boot.
 */
#pragma once

#include "hash/mix/random.h"

static inline u32 hash_tabulation(u64 a, u64 b)
{
	u32 hash = 0;

	for (unsigned i = 0; i < 8; i++)
		hash ^= hash_tabulation_table[i][(u8)(a >> 8 * i)] ^
			hash_tabulation_table[8 + i][(u8)(b >> 8 * i)];
	return hash;
}
