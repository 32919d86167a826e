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
