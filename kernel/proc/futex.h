/*
 * futex.h - futex(2).
 */
#pragma once

#include "kernel/core/time.h"
#include "kernel/core/types.h"

#define FUTEX_CLOCK_REALTIME 256

/* The call as it is; all pointers are the program's. @timeout is a count for the requeue
 * operations. */
s64 futex(u32 *address, int operation, u32 value, const struct timespec64 *timeout, u32 *address2,
	  u32 value3);
