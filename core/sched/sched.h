/*
 * sched.h - what every room may ask of the scheduler (kernel/proc/sched.c; hosted: tests/hosted).
 *
 * Sleeping without losing a wake-up, as in Linux: set the state, test the condition, then
 * schedule(). wake_up_task() between the two makes schedule() return at once. Most code uses wait.h
 * instead.
 */
#pragma once

#include <arch/cpu.h>

#include "core/base/atomic.h"
#include "core/lock/lockdep.h"
#include "core/sched/task.h"
#include "core/time/time.h"

/* Set by main.c when all CPUs and the scheduler run: from then on sleeping with interrupts off is a
 * bug. */
extern bool system_running;

/* Give up the CPU. In state TASK_RUNNING others run first; in another the task sleeps until woken;
 * an interruptible sleep does not begin when a signal is pending. No spinlock held, interrupts
 * enabled. */
void schedule(void);

/* The same, but wake by ourselves when the monotonic clock shows @deadline_ns, ~0: never; is that
 * still to come? In state TASK_RUNNING on return. */
bool schedule_until(u64 deadline_ns);

/* Make @task runnable if it sleeps (in any state but TASK_STOPPED and TASK_DEAD); did it? Any
 * context. */
bool wake_up_task(struct task *task);

/* A kernel thread that runs function(argument), which must not return, on any CPU; it starts at
 * once. ERR_PTR(-ENOMEM). */
struct task *kthread_create(int (*function)(void *), void *argument, const char *name);

static __always_inline void set_current_state(enum task_state state)
{
	WRITE_ONCE(current->state, state);
	smp_mb(); /* against the waker, who sets the condition and then reads our state */
}

static __always_inline void __set_current_state(enum task_state state)
{
	WRITE_ONCE(current->state, state);
}

/* Let others run if one is due: in long loops, where sleeping is allowed. */
static __always_inline void cond_resched(void)
{
	might_sleep();
	if (unlikely(current->pending & TASK_PENDING_RESCHED))
		schedule();
}

/* Sleep for at least @ns, whatever signals come. */
static inline void sleep_ns(u64 ns)
{
	u64 deadline_ns = ktime_ns() + ns;

	do
		set_current_state(TASK_UNINTERRUPTIBLE);
	while (schedule_until(deadline_ns));
}
