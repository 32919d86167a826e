/*
 * user_time.h - times as programs give and take them.
 */
#pragma once

#include "kernel/core/time.h"

/* Seconds and microseconds. */
struct timeval64 {
	s64 tv_sec, tv_usec;
};

static inline struct timeval64 ns_to_timeval(u64 ns)
{
	return (struct timeval64){(s64)(ns / NSEC_PER_SEC), (s64)(ns % NSEC_PER_SEC / 1000)};
}

/* A timespec of the program as nanoseconds (~0 at most), and back: 0, -EFAULT, -EINVAL.
 * Implemented by kernel/proc/time.c. */
s64 get_timespec(const void *from, u64 *ns);
s64 put_timespec(void *to, u64 ns);
