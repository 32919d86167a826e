/*
 * multilinear.h - signatures by a multilinear hash function with keys drawn at boot.
 *
 * Over the words of the text it is
 *
 *	k + sum of key_i * word_i	modulo 2^320
 *
 * without its low 63 bits: with keys of 320 random bits, two different texts agree in all the 257
 * others with probability 2^-257 (Lemire and Kaser 2014, theorem 3.1 with K = 320, L = 64). A
 * path's length need not be told. That the products are added is what the proof needs: xor would
 * not do (Tsai 2015, section 3.3, has eight of 64 bits over words of 32 for what is one of 320
 * here).
 *
 * The function is linear (linear.h), so that nothing is kept of a directory but its hash and its
 * length.
 *
 * 240 bits are compared. The 16 below them, and 8 below those for tables of more than 65,536
 * buckets, are the index: nobody who times a chain learns a bit that is compared.
 *
 * Cost: 27 instructions for eight bytes where the CPU has BMI2, else 42. Weakness: who sees
 * signatures can work out the keys.
 */
#pragma once

#include "fs/path/signature/bits.h"

#define SIGNATURE_LIMBS 5

/* Of a text of so many bytes. */
struct signature {
	u64 limb[SIGNATURE_LIMBS]; /* the lowest first */
	u64 length;
};

static __always_inline u64 signature_index(const struct signature *signature)
{
	return (signature->limb[1] & 0xffff) | signature->limb[0] >> 56 << 16;
}

static __always_inline bool signatures_differ(const struct signature *a, const struct signature *b)
{
	return top_bits_differ(&a->limb[1], &b->limb[1]);
}

#define signature_top(signature) ((signature)->limb[SIGNATURE_LIMBS - 1])
#define text_leads_to(walk, path, mounts) true
