/*
 * siphash.h - SipHash-1-3 (Aumasson and Bernstein 2012, fewer rounds): a keyed function.
 *
 * Who does not know the key cannot make keys collide. The key is drawn at boot. About 45
 * instructions for a key of 16 bytes.
 */
#pragma once

#include "hash/mix/random.h"

struct hash_siphash {
	u64 a, b, c, d;
};

static __always_inline void hash_siphash_round(struct hash_siphash *v)
{
	v->a += v->b;
	v->b = hash_rotate_left64(v->b, 13) ^ v->a;
	v->a = hash_rotate_left64(v->a, 32);
	v->c += v->d;
	v->d = hash_rotate_left64(v->d, 16) ^ v->c;
	v->a += v->d;
	v->d = hash_rotate_left64(v->d, 21) ^ v->a;
	v->c += v->b;
	v->b = hash_rotate_left64(v->b, 17) ^ v->c;
	v->c = hash_rotate_left64(v->c, 32);
}

static __always_inline struct hash_siphash hash_siphash_begin(void)
{
	u64 k0 = hash_siphash_key[0], k1 = hash_siphash_key[1];
	struct hash_siphash v = {
		.a = k0 ^ 0x736f6d6570736575ull,
		.b = k1 ^ 0x646f72616e646f6dull,
		.c = k0 ^ 0x6c7967656e657261ull,
		.d = k1 ^ 0x7465646279746573ull,
	};

	return v;
}

static __always_inline void hash_siphash_word(struct hash_siphash *v, u64 word)
{
	v->d ^= word;
	hash_siphash_round(v);
	v->a ^= word;
}

/* @last: the bytes that are left, below the message's length in the top byte. */
static __always_inline u64 hash_siphash_end(struct hash_siphash *v, u64 last)
{
	hash_siphash_word(v, last);
	v->c ^= 0xff;
	hash_siphash_round(v);
	hash_siphash_round(v);
	hash_siphash_round(v);
	return v->a ^ v->b ^ v->c ^ v->d;
}

static __always_inline u64 hash_siphash(u64 a, u64 b)
{
	struct hash_siphash v = hash_siphash_begin();

	hash_siphash_word(&v, a);
	hash_siphash_word(&v, b);
	return hash_siphash_end(&v, 16ull << 56);
}
