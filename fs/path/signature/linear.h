/*
 * linear.h - sums of key_i * word_i over the words of a text, modulo a power of two: for the one
 * file of fs/path/signature that is compiled with it (multilinear.c, text.c).
 *
 * A sum goes on from any place: what is added to a text is added to its sum, at the words and bytes
 * where it stands, even if these begin in the middle of a word, since half a word, and then the
 * other half, times a key are the word times that key.
 */
#pragma once

#include "fs/path/direct/signature.h"
#include "fs/path/signature/words.h"

#define SIGNATURE_WORDS (SIGNATURE_MAX / 8 + 1)

static u64 signature_keys[SIGNATURE_WORDS][SIGNATURE_LIMBS];
struct signature signature_of_root;

/* sum += factor * word, the lowest limb first. */
typedef void multiply_add(u64 sum[SIGNATURE_LIMBS], const u64 factor[SIGNATURE_LIMBS], u64 word);

/* From *@directory on to the signature of @text below, *@sum, the products summed up by @add. */
static __always_inline void go_on(struct signature *sum, const struct signature *directory,
				  const char *text, multiply_add *add)
{
	struct signature so_far = *directory; /* in registers, as far as they go */
	const u64 *key = signature_keys[so_far.length / 8];
	unsigned shift = so_far.length % 8 * 8;
	u64 carried = 0, word, ends;
	const char *at = text;

	for (;; at += 8, key += SIGNATURE_LIMBS) {
		word = load_word(at);
		ends = text_ends(word);
		if (ends)
			break;
		add(so_far.limb, key, word << shift | carried);
		carried = word >> 1 >> (63 - shift);
	}
	u64 end = ends & -ends;
	word = last_word(word, end);
	add(so_far.limb, key, word << shift | carried);
	word = word >> 1 >> (63 - shift);
	if (word)
		add(so_far.limb, key + SIGNATURE_LIMBS, word);
	so_far.length += (size_t)(at - text) + bytes_before(end) + 1;
	*sum = so_far;
}

static void draw_keys(void)
{
	u64 state = random_u64();

	for (unsigned i = 0; i < SIGNATURE_WORDS * SIGNATURE_LIMBS; i++)
		signature_keys[i / SIGNATURE_LIMBS][i % SIGNATURE_LIMBS] = random_key_word(&state);
	for (unsigned i = 0; i < SIGNATURE_LIMBS; i++)
		signature_of_root.limb[i] = random_key_word(&state);
}
