/*
 * The hash by SipHash-1-3 with a key drawn at boot, on both words of the key.
 *
 * Source: Aumasson and Bernstein 2012, with fewer rounds. Cost: about 90 instructions. Weakness:
 * the cost, which buys that nobody can aim at a bucket.
 */
#pragma once

#include "hash/random.h"

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

	return (struct hash_siphash){k0 ^ 0x736f6d6570736575ull, k1 ^ 0x646f72616e646f6dull,
				     k0 ^ 0x6c7967656e657261ull, k1 ^ 0x7465646279746573ull};
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

static inline u32 any_siphash(u64 sequential, u64 other, unsigned bits)
{
	struct hash_siphash v = hash_siphash_begin();

	hash_siphash_word(&v, sequential);
	hash_siphash_word(&v, other);
	return hash_top64(hash_siphash_end(&v, 16ull << 56), bits);
}
