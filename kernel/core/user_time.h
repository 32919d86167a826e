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
int get_timespec(const void *from, u64 *ns);
int put_timespec(void *to, u64 ns);

/* When a wait of @ns ends that the current call begins: ~0 never, 0 at once. A call that returned
 * -ERESTART_RESTARTBLOCK and is made again keeps the end it had. */
u64 wait_deadline(u64 ns);

/* The same of the program's timespec at @timeout, NULL: for ever. 0, -EFAULT, -EINVAL. */
int get_deadline(const void *timeout, u64 *deadline);
