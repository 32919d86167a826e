/*
 * random.c - the key-erasing ChaCha20 generator: each block's first half becomes the next key, the
 * second half is output, so that what was given out cannot be computed back from the state.
 */
#include "kernel/core/random.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/spinlock.h"
#include "kernel/core/string.h"
#include "kernel/core/time.h"

#include <arch/random.h>

#define KEY_WORDS 8
#define BLOCK_WORDS 16

static DEFINE_SPINLOCK(random_lock); /* guards all below */
static u32 key[KEY_WORDS];
/* output not yet given out: its last `pool_left` bytes */
static u8 pool[4 * (BLOCK_WORDS - KEY_WORDS)];
static size_t pool_left;
static bool fixed;

static inline u32 rotate(u32 x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static void quarter_round(u32 *s, unsigned a, unsigned b, unsigned c, unsigned d)
{
	s[a] += s[b];
	s[d] = rotate(s[d] ^ s[a], 16);
	s[c] += s[d];
	s[b] = rotate(s[b] ^ s[c], 12);
	s[a] += s[b];
	s[d] = rotate(s[d] ^ s[a], 8);
	s[c] += s[d];
	s[b] = rotate(s[b] ^ s[c], 7);
}

/* RFC 8439, 2.3, with counter and nonce 0: the key is never used twice. */
static void chacha20_block(u32 out[BLOCK_WORDS])
{
	u32 in[BLOCK_WORDS] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
	unsigned i;

	memcpy(in + 4, key, sizeof(key));
	memcpy(out, in, sizeof(in));
	for (i = 0; i < 10; i++) {
		quarter_round(out, 0, 4, 8, 12);
		quarter_round(out, 1, 5, 9, 13);
		quarter_round(out, 2, 6, 10, 14);
		quarter_round(out, 3, 7, 11, 15);
		quarter_round(out, 0, 5, 10, 15);
		quarter_round(out, 1, 6, 11, 12);
		quarter_round(out, 2, 7, 8, 13);
		quarter_round(out, 3, 4, 9, 14);
	}
	for (i = 0; i < BLOCK_WORDS; i++)
		out[i] += in[i];
}

/* New key, full pool. Under random_lock. */
static void refill(void)
{
	u32 block[BLOCK_WORDS];

	chacha20_block(block);
	memcpy(key, block, sizeof(key));
	memcpy(pool, block + KEY_WORDS, sizeof(pool));
	pool_left = sizeof(pool);
}

void get_random_bytes(void *buffer, size_t n)
{
	u8 *to = buffer;
	unsigned long flags;

	while (n) {
		size_t step;
		u8 *from;

		spin_lock_irqsave(&random_lock, flags);
		if (!pool_left)
			refill();
		step = min(n, pool_left);
		from = pool + sizeof(pool) - pool_left;
		memcpy(to, from, step);
		memset(from, 0, step);
		pool_left -= step;
		spin_unlock_irqrestore(&random_lock, flags);
		to += step;
		n -= step;
	}
}

u64 random_u64(void)
{
	u64 value;

	get_random_bytes(&value, sizeof(value));
	return value;
}

/* Xor into the key and stir, 32 bytes at a time. */
static void mix(const void *data, size_t n)
{
	const u8 *from = data;
	unsigned long flags;

	spin_lock_irqsave(&random_lock, flags);
	while (n) {
		size_t step = min(n, sizeof(key)), i;

		for (i = 0; i < step; i++)
			((u8 *)key)[i] ^= from[i];
		refill();
		from += step;
		n -= step;
	}
	pool_left = 0;
	spin_unlock_irqrestore(&random_lock, flags);
}

void random_mix(const void *data, size_t n)
{
	if (!fixed)
		mix(data, n);
}

void random_init(void)
{
	u64 seed[4] = {0};
	unsigned i;

	fixed = cmdline_u64("seed", &seed[0]);
	if (!fixed) {
		for (i = 0; i < ARRAY_SIZE(seed); i++)
			if (!arch_random(&seed[i]))
				seed[i] = arch_cycles() * 0x9e3779b97f4a7c15ULL + i;
		seed[3] ^= realtime_ns();
	}
	mix(seed, sizeof(seed));
}
