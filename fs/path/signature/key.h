/*
 * key.h - the words of a signature's key, for the files of fs/path/signature that draw one at boot.
 *
 * Each is a number of the processor's own generator, if it has one: that two texts agree with a
 * probability of 2^-257 is said over all keys of so many random bits. With `seed=`, for a run that
 * can be repeated, and without a generator, one number of 64 bits is all that is random, and the
 * probability means nothing beyond it. With `seed=` a key of any length takes one draw, so that
 * kernels with other signatures are the same in what they draw later.
 */
#pragma once

#include "core/random.h"

/* The next one; of one key with the same @state, which random_u64() begins. */
static inline u64 random_key_word(u64 *state)
{
	return random_fixed ? splitmix64(state) : random_u64();
}
