/*
 * random.c - RDRAND where the CPU has it, else SplitMix64 (Steele 2014).
 */
#include "core/kernel.h"

static u64 state;
bool random_fixed;

u64 random_u64(void)
{
	u64 value;

	if (!random_fixed && arch_random(&value))
		return value;
	value = __atomic_fetch_add(&state, SPLITMIX64_STEP, __ATOMIC_RELAXED);
	return splitmix64(&value);
}

void get_random_bytes(void *buffer, size_t n)
{
	for (u8 *to = buffer; n;) {
		u64 value = random_u64();
		size_t some = min(n, sizeof(value));

		memcpy(to, &value, some);
		to += some;
		n -= some;
	}
}

void random_init(void)
{
	state = arch_cycles() ^ realtime_ns();
	random_fixed = cmdline_u64("seed", &state);
}
