/*
 * limits.h - the resource limits of a process (getrlimit(2)), for whoever has to keep one of them.
 *
 * kernel/proc keeps the table with the process and changes it; every thread points to it
 * (task->limits). Read without a lock: a limit that changes meanwhile holds from then on.
 */
#pragma once

#include <arch/cpu.h>

#include "core/sched/task.h"

enum rlimit_kind {
	RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_RSS, RLIMIT_NPROC,
	RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_AS, RLIMIT_LOCKS, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE,
	RLIMIT_NICE, RLIMIT_RTPRIO, RLIMIT_RTTIME, RLIMIT_COUNT
};
#define RLIM_INFINITY (~0ULL)

struct rlimit {
	u64 soft, hard;
};

/* What binds the current thread; a kernel thread is bound by nothing. */
static inline u64 current_limit(enum rlimit_kind kind)
{
	const struct rlimit *limits = current->limits;

	return likely(limits != NULL) ? READ_ONCE(limits[kind].soft) : RLIM_INFINITY;
}
