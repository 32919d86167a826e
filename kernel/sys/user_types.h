/*
 * user_types.h - structures of the ABI that several files of sys/ read and write, and helpers for
 * them.
 */
#pragma once

#include "kernel/core/time.h"
#include "kernel/core/types.h"

struct cpu_times;

/* Seconds and microseconds. */
struct timeval64 {
	s64 tv_sec, tv_usec;
};

struct rusage {
	struct timeval64 user, system;
	s64 maxrss, ixrss, idrss, isrss, minflt, majflt, nswap, inblock, oublock, msgsnd, msgrcv,
		nsignals, nvcsw, nivcsw;
};
_Static_assert(sizeof(struct rusage) == 144, "struct rusage of x86-64");

static inline struct timeval64 ns_to_timeval(u64 ns)
{
	return (struct timeval64){(s64)(ns / NSEC_PER_SEC), (s64)(ns % NSEC_PER_SEC / 1000)};
}

/* A timespec of the program as nanoseconds (~0 at most): 0, -EFAULT, -EINVAL. sys_time.c */
s64 get_timespec(const void *from, u64 *ns);
s64 put_timespec(void *to, u64 ns);

/* Fill the program's struct rusage with CPU times; NULL is allowed. sys_process.c */
s64 put_rusage(void *to, const struct cpu_times *times, u64 faults);
