/*
 * scheduler.h - what the machine's entry code and start-up need of kernel/proc/sched.c, beyond
 * core/sched.h.
 */
#pragma once

#include "kernel/core/kernel.h"

struct registers;

/* Boot: queues of all CPUs; @boot_task, which runs on CPU 0, is to be its idle task. */
void sched_init(struct task *boot_task);

/* Each further CPU: the task it runs becomes its idle task; then it calls sched_idle_loop(). */
void sched_adopt_idle(struct task *task);
__noreturn void sched_idle_loop(void);

/* Called by the machine (arch/process.h, arch/time.h). */
void schedule_tail(struct task *previous);
void scheduler_tick(bool user);
void exit_to_user(struct registers *registers);
__noreturn void task_exit_kernel(void);

struct sched_statistics {
	u64 switches;
	u64 idle_ns;
	u64 user_ns, system_ns; /* by ticks */
	unsigned running; /* tasks that run or want to */
};
void sched_statistics(unsigned cpu, struct sched_statistics *out);
