/*
 * time.c - real time as an offset to the monotonic clock.
 */
#include "core/kernel.h"

#define FIXED_START 1700000000ULL /* 2023-11-14 22:13:20 UTC */

u64 realtime_offset_ns;

void realtime_set(u64 ns)
{
	WRITE_ONCE(realtime_offset_ns, ns - ktime_ns());
}

void time_init(void)
{
	u64 seconds = FIXED_START, seed;

	if (!cmdline_u64("seed", &seed))
		seconds = arch_rtc_seconds();
	cmdline_u64("rtc", &seconds);
	realtime_set(seconds * NSEC_PER_SEC);
}
