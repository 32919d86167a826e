/*
 * A name hash by tabulation: the exclusive or of one random number for each byte and place, places
 * turning after 16.
 *
 * Source: Zobrist 1970; rotation as in cyclic polynomials (Cohen 1997), begins with the length.
 * Cost: a load a byte, from 16 KB of tables. Weakness: bytes 32 places apart use the same number,
 * turned fully round.
 */
#include "hash/any/tabulation.h"

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	u32 h = (u32)length;

	for (size_t i = 0; i < length; i++)
		h = hash_rotate_left(h, 1) ^
		    hash_tabulation_table[i % HASH_TABULATION_BYTES][(u8)name[i]];
	return h;
}
