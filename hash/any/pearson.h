/*
 * The hash by Pearson's table of bytes: a walk through a random permutation of them, by the key's.
 *
 * Source: Pearson 1990; Lever 1999, appendix B, whose e-mail says why such functions lose on a real
 * machine. Cost: 64 loads, each waiting for one before it. Weakness: slow; one walk gives one byte,
 * so there are four, whose beginnings differ by one: they are not independent.
 */
#pragma once

#define HASH_PEARSON_BEGIN 0x03020100u

/* Take one byte further in each of the four walks. */
static __always_inline u32 hash_pearson_byte(u32 state, u8 byte)
{
	const u8 *table = hash_pearson_table;

	return (u32)table[(state & 0xff) ^ byte] | (u32)table[(state >> 8 & 0xff) ^ byte] << 8 |
	       (u32)table[(state >> 16 & 0xff) ^ byte] << 16 |
	       (u32)table[(state >> 24) ^ byte] << 24;
}

static inline u32 any_pearson(u64 sequential, u64 other, unsigned bits)
{
	u32 state = HASH_PEARSON_BEGIN;

	for (unsigned i = 0; i < 16; i++)
		state = hash_pearson_byte(state, (u8)((i < 8 ? sequential : other) >> 8 * (i % 8)));
	return hash_top(state, bits);
}
