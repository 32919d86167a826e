/*
 * The hash by simple tabulation: the xor of one random number, drawn at boot, for each byte of the
 * key.
 *
 * Source: Zobrist 1970; Patrascu and Thorup 2012; Lever 1999, appendix B. Cost: 16 loads from 16 KB
 * of tables. Weakness: the tables push other data out of the cache. 3-independent, and as good as
 * truly random for chains.
 */
#pragma once

static inline u32 any_tabulation(u64 sequential, u64 other, unsigned bits)
{
	u32 hash = 0;

	for (unsigned i = 0; i < 8; i++)
		hash ^= hash_tabulation_table[i][(u8)(sequential >> 8 * i)] ^
			hash_tabulation_table[8 + i][(u8)(other >> 8 * i)];
	return hash_top(hash, bits);
}
