/*
 * random.c - the key-erasing ChaCha20 generator: each block's first half becomes the next key, the
 * second half is output, so that what was given out cannot be computed back from the state.
 */
#include "kernel/core/random.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/kernel.h"

#define KEY_WORDS 8
#define BLOCK_WORDS 16

static DEFINE_SPINLOCK(random_lock); /* guards all below */
static u32 key[KEY_WORDS];
/* output not yet given out: its first `pool_left` bytes */
static u8 pool[4 * (BLOCK_WORDS - KEY_WORDS)];
static size_t pool_left;
static bool fixed;

static inline u32 rotate(u32 x, unsigned n)
{
	return x << n | x >> (32 - n);
}

/* RFC 8439, 2.3, with counter and nonce 0: the key is never used twice. */
static void chacha20_block(u32 s[BLOCK_WORDS])
{
	u32 in[BLOCK_WORDS] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

	memcpy(in + 4, key, sizeof(key));
	memcpy(s, in, sizeof(in));
	for (unsigned i = 0; i < 80; i++) { /* ten times the columns, then the diagonals */
		unsigned a = i % 4, turn = i / 4 % 2, b = 4 + (a + turn) % 4;
		unsigned c = 8 + (a + 2 * turn) % 4, d = 12 + (a + 3 * turn) % 4;

		s[a] += s[b];
		s[d] = rotate(s[d] ^ s[a], 16);
		s[c] += s[d];
		s[b] = rotate(s[b] ^ s[c], 12);
		s[a] += s[b];
		s[d] = rotate(s[d] ^ s[a], 8);
		s[c] += s[d];
		s[b] = rotate(s[b] ^ s[c], 7);
	}
	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		s[i] += in[i];
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
	unsigned long flags;

	spin_lock_irqsave(&random_lock, flags);
	for (u8 *to = buffer; n; n--) {
		if (!pool_left)
			refill();
		*to++ = pool[--pool_left];
		pool[pool_left] = 0;
	}
	spin_unlock_irqrestore(&random_lock, flags);
}

u64 random_u64(void)
{
	u64 value;

	get_random_bytes(&value, sizeof(value));
	return value;
}

/* Xor into the key and stir, 32 bytes at a time. */
static void mix(const u8 *from, size_t n)
{
	unsigned long flags;

	spin_lock_irqsave(&random_lock, flags);
	for (size_t i = 0; i < n; i++) {
		((u8 *)key)[i % sizeof(key)] ^= from[i];
		if (i + 1 == n || (i + 1) % sizeof(key) == 0)
			refill();
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

	fixed = cmdline_u64("seed", &seed[0]);
	for (unsigned i = 0; i < ARRAY_SIZE(seed) && !fixed; i++)
		if (!arch_random(&seed[i]))
			seed[i] = arch_cycles() * 0x9e3779b97f4a7c15ULL + realtime_ns() + i;
	mix((const u8 *)seed, sizeof(seed));
}
