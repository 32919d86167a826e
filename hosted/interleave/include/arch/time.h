/* time.h - interleavings: a clock that moves a little at each look; see fibers.c. */
#pragma once

#include "core/base/types.h"

extern u64 hosted_clock_ns; /* of the tests */
u64 arch_clock_ns(void);

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
