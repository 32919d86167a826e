/* time.h - hosted: the tests' clock (own.h has what it shows); no timer rings, and the date stands still. */
#pragma once

#include <arch/cpu.h>

static inline u64 arch_cycles(void)
{
	return arch_clock_ns();
}

static inline void arch_timer_set(u64 deadline_ns)
{
	(void)deadline_ns;
}

static inline u64 arch_rtc_seconds(void)
{
	return 1700000000;
}
