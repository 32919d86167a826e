#pragma once

/*
 * acquire.h - native, with the thread sanitizer: a marked read acquires once it has read.
 *
 * The compiler tells of a volatile read before the read (tsan.c). What another thread publishes
 * between the two is read, but was not acquired, and all that it leads to looks like a race: seldom,
 * on a host with more threads than CPUs. So it is told again, behind the read. (Other volatile
 * reads, as test_bit()'s, keep that gap; no report of one was seen.)
 */
#include "core/base/types.h"

void __tsan_acquire(void *address);

#undef READ_ONCE
#define READ_ONCE(x)                                                                               \
	({                                                                                         \
		__typeof__(x) read_ = *(const volatile __typeof__(x) *)&(x);                       \
		__tsan_acquire((void *)(uintptr_t)&(x));                                           \
		read_;                                                                             \
	})
