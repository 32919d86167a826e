/*
 * random.h - random bytes: the CPU's own generator (RDRAND) if it has one; else, and with `seed=N`
 * for a run that can be repeated, SplitMix64 from the cycle counter and the clock, or from N.
 *
 * Without RDRAND good for hash salts, address layout and temporary file names, not for
 * cryptographic keys. Any context.
 */
#pragma once

#define SPLITMIX64_STEP 0x9e3779b97f4a7c15ull

static inline u64 splitmix64(u64 *state)
{
	u64 z = *state += SPLITMIX64_STEP;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void get_random_bytes(void *buffer, size_t n);
u64 random_u64(void);
/* By `seed=`: then what differs from one start to the next on a real machine is drawn from it. */
extern bool random_fixed;

/* After cmdline_init(). */
void random_init(void);
