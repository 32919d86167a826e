/*
 * signature.h - the signature of a path: 256 bits of its text, by a multilinear hash function with
 * keys drawn at boot.
 *
 * The text is the canonical path, each component with a slash behind it: "" is the root, "a/b/"
 * what lies two below. No byte of it is NUL, so that it can be read as words of 64 bits, zeros
 * behind its end, and two paths never have the same words: "ab/c/" is not "abc/", and a path's
 * length need not be told. The hash is
 *
 *	k + sum of key_i * word_i	modulo 2^320
 *
 * without its low 63 bits: with keys of 320 random bits, two different texts agree in all the 257
 * others with probability 2^-257 (Lemire and Kaser 2014, theorem 3.1 with K = 320, L = 64). That
 * the products are added is what the proof needs: xor would not do (Tsai 2015, section 3.3, has
 * eight of 64 bits over words of 32 for what is one of 320 here).
 *
 * The function is linear. So it goes on from any place: what is added to a text is added to its
 * hash, at the words and bytes where it stands, even if these begin in the middle of a word.
 * Nothing is kept of a directory but its hash and its length.
 *
 * 240 bits are compared. The 16 below them, and 8 below those for tables of more than 65,536
 * buckets, are the index: nobody who times a chain learns a bit that is compared.
 */
#pragma once

#include "core/kernel.h"
#include "fs/path/lockless/component.h"

#define SIGNATURE_LIMBS 5
/* Bytes of the longest canonical path that is hashed at all: that of a start, and PATH_MAX. */
#define SIGNATURE_START_MAX 1024
#define SIGNATURE_WORDS ((SIGNATURE_START_MAX + PATH_MAX) / 8 + 1)

/* Of a text of so many bytes. */
struct signature {
	u64 limb[SIGNATURE_LIMBS]; /* the lowest first */
	u64 length;
};

extern u64 signature_keys[SIGNATURE_WORDS][SIGNATURE_LIMBS];
extern struct signature signature_of_root;

/*
 * *@sum: the signature of @text below the directory whose signature is *@directory, which may be
 * the same place in memory. The text begins with no slash and has eight readable bytes behind its
 * end. It counts as it stands: whoever keeps what comes out sees to it that it is canonical.
 */
void signature_below(struct signature *sum, const struct signature *directory, const char *text);

/* The bits that choose a bucket: 24 of them. */
static __always_inline u64 signature_index(const struct signature *signature)
{
	return (signature->limb[1] & 0xffff) | signature->limb[0] >> 56 << 16;
}

/* At boot: the keys are drawn. */
void signature_init(void);

/* Do the bits differ that are compared? */
static __always_inline bool signatures_differ(const struct signature *a, const struct signature *b)
{
	const unsigned bits = CONFIG_SIGNATURE_BITS;
	u64 differing = (a->limb[4] ^ b->limb[4]) >> (bits < 64 ? 64 - bits : 0);

	if (bits > 64)
		differing |= (a->limb[3] ^ b->limb[3]) >> (bits < 128 ? 128 - bits : 0);
	if (bits > 128)
		differing |= (a->limb[2] ^ b->limb[2]) >> (bits < 192 ? 192 - bits : 0);
	if (bits > 192)
		differing |= (a->limb[1] ^ b->limb[1]) >> (256 - bits);
	return differing;
}
