/*
 * siphash.h - signatures by SipHash-2-4 with 128 bits of output, twice, with two keys drawn at
 * boot.
 *
 * What is hashed is a word drawn for the tree, and the path's text. SipHash is meant to be a
 * pseudorandom function: who does not have the key cannot tell its values from random ones, even
 * if he sees as many as he likes (Aumasson and Bernstein 2012; the form of 128 bits is that of
 * their reference implementation). So two texts agree in both values, of two independent keys, with
 * probability 2^-256, and in the 240 bits that are compared with 2^-240. Two of 128 bits take half
 * the rounds for each word that four of 64 would.
 *
 * A directory's signature has, beside the value, the two states behind the last whole word of its
 * text, and what is left of the text.
 *
 * Cost: some 75 instructions for eight bytes, 370 to begin and to finish. Weakness: the cost.
 */
#pragma once

#define SIPHASH_LANES 2

/* Of a text of so many bytes. */
struct signature {
	u64 value[2 * SIPHASH_LANES]; /* the lowest first */
	u64 state[SIPHASH_LANES][4];  /* behind the whole words */
	u64 left;		      /* of the text, behind these, and zeros */
	u64 length;
};

#include "fs/path/signature/value.h"
