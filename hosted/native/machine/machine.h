/*
 * machine.h - native: the kernel's file systems and caches in a process whose threads are CPUs.
 *
 * native_start() brings all up on the calling thread, which is CPU 0. native_threads_run() then has
 * further threads run a function, each on a CPU and in a task of its own, together with the first.
 * What a call of the kernel's is wrapped in is native_call_end(): there the machine would return to
 * the program, and does what is pending; and there, each NATIVE_TICK calls, the tick comes that the
 * timer would have sent. So quiescent states (core/lock/rcu.h) are noted as in the kernel, and at
 * no other cost. A thread that will make no call for a while says so: native_idle().
 *
 * The kernel's own are core's locks, allocators, RCU and wait queues. Instead of its scheduler
 * there is threads.c: who sleeps waits for the host (a futex), and wakes on the same CPU.
 *
 * Limits: nothing is swapped or mapped, kernel threads do not run, signals are not there; when
 * memory ends, calls fail.
 */
#pragma once

#include <arch/cpu.h>

#include "core/sched/task.h"

#define NATIVE_TICK 10000 /* calls: some milliseconds of a busy CPU, as the machine's */

/* @cpus CPUs, 1 to NR_CPUS, and @megabytes of memory. @options: the kernel's command line. */
void native_start(unsigned cpus, unsigned megabytes, const char *options);

/* function(CPU's number, argument) on each CPU at once; returns when all are through. */
void native_threads_run(void (*function)(unsigned cpu, void *argument), void *argument);

/* This CPU runs no call until native_busy(): nobody waits for it. */
void native_idle(void);
void native_busy(void);

/* @bytes of the process's memory, zero, in large pages if the host has them. Never fails. */
void *native_map(size_t bytes);

extern __thread u32 native_until_tick;
void native_tick(void);
void native_pending(void);

/* Behind each call; hands its result on. May sleep. */
static __always_inline long native_call_end(long result)
{
	if (unlikely(--native_until_tick == 0))
		native_tick();
	if (unlikely(current->pending))
		native_pending();
	return result;
}
