/*
 * random.c - SipHash of a counter, under a key that each request replaces, so that what was given
 * out cannot be computed back from the state.
 */
#include "kernel/core/random.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/kernel.h"
#include "kernel/core/siphash.h"

static DEFINE_SPINLOCK(random_lock); /* guards: */
static u64 key[2], counter;

static u64 next(void)
{
	struct siphash state = siphash_begin(key);

	return siphash_end(&state, counter++);
}

void get_random_bytes(void *buffer, size_t n)
{
	guard(spinlock_irqsave, &random_lock);
	for (u8 *to = buffer; n;) {
		u64 word = next();
		size_t some = min(n, sizeof(word));

		memcpy(to, &word, some);
		to += some;
		n -= some;
	}
	u64 new_key[] = {next(), next()};

	memcpy(key, new_key, sizeof(key));
}

u64 random_u64(void)
{
	u64 value;

	get_random_bytes(&value, sizeof(value));
	return value;
}

void random_init(void)
{
	u64 seed;
	bool fixed = cmdline_u64("seed", &seed);

	for (unsigned i = 0; i < ARRAY_SIZE(key); i++) {
		if (!fixed && !arch_random(&seed))
			seed = arch_cycles() * 0x9e3779b97f4a7c15ULL + realtime_ns() + i;
		key[i] = seed;
	}
}
