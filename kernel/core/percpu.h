/*
 * percpu.h - per-CPU data is an array [NR_CPUS] whose elements do not share cache lines, indexed by
 * cpu_id(). The kernel is not preempted in kernel mode, so an index stays right until the thread
 * blocks; what interrupt handlers touch too needs interrupts off.
 *
 *	static struct { u64 hits; } __percpu_slot statistics[NR_CPUS];
 *	statistics[cpu_id()].hits++;
 */
#pragma once

#include <arch/cpu.h>

#define __percpu_slot __aligned(64)

/* Sum of one field over all CPUs: exact only while nothing counts. */
#define percpu_sum(array, field)                                                                   \
	({                                                                                         \
		__typeof__((array)[0].field) _sum = 0;                                             \
		for (unsigned _cpu = 0; _cpu < NR_CPUS; _cpu++)                                    \
			_sum += READ_ONCE((array)[_cpu].field);                                    \
		_sum;                                                                              \
	})
