/*
 * settime.c - clock_settime(2): set the clock, which has the time of the machine's own at boot.
 */
#include "kernel/proc/process.h"

s64 sys_clock_settime(int clock, const void *time)
{
	u64 ns;

	if (clock != CLOCK_REALTIME)
		return -EINVAL;
	TRY(get_timespec(time, &ns));
	if (!capable(current->cred))
		return -EPERM;
	realtime_set(ns);
	return 0;
}
