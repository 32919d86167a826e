/*
 * time.h - native: the processor's own counter, as the machine reads it (clock_start() finds its
 * scale). No timer rings.
 */
#pragma once

#include "core/base/types.h"

/* core/time/clock.c: what arch_cycles() said when the clock began; 32.32 fixed point. */
extern u64 clock_base, clock_ns_per_cycle;

static inline u64 arch_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

static inline u64 arch_clock_ns(void)
{
	return (u64)(((unsigned __int128)(arch_cycles() - clock_base) * clock_ns_per_cycle) >> 32);
}

u64 arch_rtc_seconds(void);

/* SplitMix64 is as good here (core/random.c). */
static inline bool arch_random(u64 *value)
{
	(void)value;
	return false;
}
