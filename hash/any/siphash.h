/*
 * The hash by SipHash-1-3 with a key drawn at boot, on both words of the key.
 *
 * Source: Aumasson and Bernstein 2012, with fewer rounds. Cost: about 90 instructions. Weakness:
 * the cost, which buys that nobody can aim at a bucket.
 */
#pragma once

struct siphash {
	u64 a, b, c, d;
};

static __always_inline struct siphash siphash_begin(void)
{
	const u64 *key = hash_siphash_key;

	return (struct siphash){key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull,
				key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull};
}

static __always_inline void siphash_round(struct siphash *v)
{
	v->a += v->b;
	v->b = hash_rotate_left(v->b, 13) ^ v->a;
	v->a = hash_rotate_left(v->a, 32);
	v->c += v->d;
	v->d = hash_rotate_left(v->d, 16) ^ v->c;
	v->a += v->d;
	v->d = hash_rotate_left(v->d, 21) ^ v->a;
	v->c += v->b;
	v->b = hash_rotate_left(v->b, 17) ^ v->c;
	v->c = hash_rotate_left(v->c, 32);
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

static inline u32 any_siphash(u64 sequential, u64 other, unsigned bits)
{
	struct siphash v = siphash_begin();

	siphash_word(&v, sequential);
	siphash_word(&v, other);
	return hash_top(siphash_end(&v, 16ull << 56), bits);
}
