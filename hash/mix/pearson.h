/*
 * pearson.h - Pearson's hash (1990): a walk through a random permutation of the bytes, four at a
 * time.
 *
 * One walk gives one byte; four walks whose beginnings differ by one give 32 bits. Each step waits
 * for the load of the step before: the e-mail in Lever's appendix B says why such functions lose on
 * a real machine.
 */
#pragma once

#include "hash/mix/random.h"

#define HASH_PEARSON_BEGIN 0x03020100u

/* Take one byte further in each of the four walks. */
static __always_inline u32 hash_pearson_byte(u32 state, u8 byte)
{
	const u8 *table = hash_pearson_table;

	return (u32)table[(state & 0xff) ^ byte] | (u32)table[(state >> 8 & 0xff) ^ byte] << 8 |
	       (u32)table[(state >> 16 & 0xff) ^ byte] << 16 |
	       (u32)table[(state >> 24) ^ byte] << 24;
}

static inline u32 hash_pearson(u64 a, u64 b)
{
	u32 state = HASH_PEARSON_BEGIN;

	for (unsigned i = 0; i < 8; i++)
		state = hash_pearson_byte(state, (u8)(a >> 8 * i));
	for (unsigned i = 0; i < 8; i++)
		state = hash_pearson_byte(state, (u8)(b >> 8 * i));
	return state;
}
