/*
 * old_times.c - a file's times without nanoseconds: utime(2), utimes(2), futimesat(2). The C
 * libraries set them by utimensat(2) today.
 */
#include "fs/calls/calls.h"

/* Two times in seconds and microseconds; NULL: now. */
s64 sys_futimesat(int dfd, const char *name, const s64 *times)
{
	struct timespec64 given[2];

	if (!times)
		return change_times(dfd, name, NULL, 0);
	TRY(read_user(given, times, sizeof(given)));
	for (int i = 0; i < 2; i++) {
		if ((u64)given[i].tv_nsec >= NSEC_PER_SEC / NSEC_PER_USEC)
			return -EINVAL;
		given[i].tv_nsec *= NSEC_PER_USEC;
	}
	return change_times(dfd, name, given, 0);
}

s64 sys_utimes(const char *name, const s64 *times)
{
	return sys_futimesat(AT_FDCWD, name, times);
}

/* In whole seconds. */
s64 sys_utime(const char *name, const s64 *times)
{
	s64 seconds[2];

	if (!times)
		return change_times(AT_FDCWD, name, NULL, 0);
	TRY(read_user(seconds, times, sizeof(seconds)));
	struct timespec64 given[2] = {{.tv_sec = seconds[0]}, {.tv_sec = seconds[1]}};
	return change_times(AT_FDCWD, name, given, 0);
}
