/*
 * A name hash by tabulation: the exclusive or of one random number for each byte and place, places
 * turning after 16.
 *
 * Source: Zobrist 1970; rotation as in cyclic polynomials (Cohen 1997), begins with the length.
 * Cost: a load a byte, from 16 KB of tables. Weakness: bytes 32 places apart use the same number,
 * turned fully round.
 */
#include "hash/any/tabulation.h"

HASH_BYTES(u32, (u32)length,
	   hash_rotate_left(h, 1) ^ hash_tabulation_table[i % HASH_TABULATION_BYTES][c], h)
