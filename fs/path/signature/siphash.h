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
 * The lowest 24 bits are the index: of a pseudorandom function nobody learns anything by those that
 * are compared as well, 8 of them in tables of more than 65,536 buckets.
 *
 * Cost: some 75 instructions for eight bytes, 310 to finish. Weakness: the cost.
 */
#pragma once

#include "fs/path/signature/bits.h"

#define SIPHASH_LANES 2

/* Of a text of so many bytes. */
struct signature {
	u64 value[2 * SIPHASH_LANES]; /* the lowest first */
	u64 state[SIPHASH_LANES][4];  /* behind the whole words */
	u64 left;		      /* of the text, behind these, and zeros */
	u64 length;
};

static __always_inline u64 signature_index(const struct signature *signature)
{
	return signature->value[0] & 0xffffff;
}

static __always_inline bool signatures_differ(const struct signature *a, const struct signature *b)
{
	return top_bits_differ(a->value, b->value);
}

#define text_leads_to(walk, path) true
