/*
 * words.h - the words of a text and of a key, for those who sign: private to fs/path/signature.
 *
 * Each word of a key is a number of the processor's own generator, if it has one: that two texts
 * agree with a probability of 2^-257 is said over all keys of so many random bits. With `seed=`,
 * for a run that can be repeated, and without a generator, one number of 64 bits is all that is
 * random, and the probability means nothing beyond it. With `seed=` a key of any length takes one
 * draw, so that kernels with other signatures are the same in what they draw later.
 */
#pragma once

#include "fs/path/lockless/component.h"

#include "core/random.h"

/* The last @word of a text, with a slash in the place of its NUL, whose top bit @end has, and zeros
 * behind it. */
static __always_inline u64 last_word(u64 word, u64 end)
{
	return (word & ((end >> 7) - 1)) | (end >> 7) * '/';
}

/* Bytes of it before the NUL, 0 to 7. */
static __always_inline u32 bytes_before(u64 end)
{
	return (u32)__builtin_ctzll(end) >> 3;
}

/* The next word of a key; of one key with the same @state, which random_u64() begins. */
static inline u64 random_key_word(u64 *state)
{
	return random_fixed ? splitmix64(state) : random_u64();
}
