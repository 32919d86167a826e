/*
 * siphash.h - SipHash-1-3 (Aumasson and Bernstein 2012, with fewer rounds): a keyed function of
 * words.
 */
#pragma once

#include "kernel/core/types.h"

struct siphash {
	u64 a, b, c, d;
};

static __always_inline struct siphash siphash_begin(const u64 key[2])
{
	return (struct siphash){key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull,
				key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull};
}

static __always_inline u64 siphash_rotate(u64 value, unsigned count)
{
	return value << count | value >> (64 - count);
}

static __always_inline void siphash_round(struct siphash *v)
{
	v->a += v->b;
	v->b = siphash_rotate(v->b, 13) ^ v->a;
	v->a = siphash_rotate(v->a, 32);
	v->c += v->d;
	v->d = siphash_rotate(v->d, 16) ^ v->c;
	v->a += v->d;
	v->d = siphash_rotate(v->d, 21) ^ v->a;
	v->c += v->b;
	v->b = siphash_rotate(v->b, 17) ^ v->c;
	v->c = siphash_rotate(v->c, 32);
}

static __always_inline void siphash_word(struct siphash *v, u64 word)
{
	v->d ^= word;
	siphash_round(v);
	v->a ^= word;
}

/* @last: the bytes that are left, below the message's length in the top byte. */
static __always_inline u64 siphash_end(struct siphash *v, u64 last)
{
	siphash_word(v, last);
	v->c ^= 0xff;
	siphash_round(v);
	siphash_round(v);
	siphash_round(v);
	return v->a ^ v->b ^ v->c ^ v->d;
}
