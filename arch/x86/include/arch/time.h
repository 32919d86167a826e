/*
 * time.h - the clock, the one-shot timer and the battery-backed clock, as core/time/time.c and
 * timer.c use them.
 *
 * On each CPU, interrupts disabled, timer_interrupt() (core/time/timer.c) is called when a
 * deadline of arch_timer_set() has passed, and 100 times a second of a busy CPU
 * scheduler_tick(bool user) (core/sched/sched.c).
 */
#pragma once

#include "core/base/types.h"

#define TICK_NS 10000000ULL /* 100 Hz */

/* core/time/clock.c: what arch_cycles() said when the clock began; 32.32 fixed point, 0 until it is
 * measured. */
extern u64 clock_base, clock_ns_per_cycle;

static inline u64 arch_cycles(void)
{
	u32 low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return (u64)high << 32 | low;
}

/* Nanoseconds since the kernel began: monotonic, the same on all CPUs. 0 until the clock is
 * calibrated. */
static inline u64 arch_clock_ns(void)
{
	return (u64)(((unsigned __int128)(arch_cycles() - clock_base) * clock_ns_per_cycle) >>
		     32);
}

/* Have timer_interrupt() called on this CPU at @deadline_ns (~0: not at all); replaces the former
 * deadline. Interrupts disabled. A deadline in the past is delivered at once. */
void arch_timer_set(u64 deadline_ns);

/* Seconds since 1970 in the battery-backed clock. Slow; read once at start-up. */
u64 arch_rtc_seconds(void);

/* The processor's own random number; false: it has none, or failed ten times (Intel SDM volume 1,
 * 7.3.17). */
bool arch_random(u64 *value);
