/*
 * sched.h - what every room may ask of the scheduler (sched.c; hosted: hosted/machine/tasks.c).
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

/* Set by kernel/main.c when all CPUs and the scheduler run: from then on sleeping with interrupts
 * off is a bug. */
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
 * once, with the credentials that sched_init() was given. ERR_PTR(-ENOMEM). May sleep. */
struct task *kthread_create(int (*function)(void *), void *argument, const char *name);

/* Send @signo to the process of the current thread, from the kernel (SIGPIPE, SIGXFSZ): the thread
 * itself takes it. Takes the lock of all signals; never sleeps. Nothing happens in a kernel thread.
 */
void send_signal_current(int signo);

static __always_inline void set_current_state(enum task_state state)
{
	WRITE_ONCE(current->state, state);
	smp_mb(); /* against the waker, who sets the condition and then reads our state */
}

static __always_inline void __set_current_state(enum task_state state)
{
	WRITE_ONCE(current->state, state);
}

/* Do what is pending and needs no program's registers: pass through a quiescent state (rcu.h), give
 * up the CPU. No spinlock held. */
void sched_do_pending(void);

/* Let others run if one is due: in long loops, where sleeping is allowed. */
static __always_inline void cond_resched(void)
{
	might_sleep();
	if (unlikely(current->pending & (TASK_PENDING_RESCHED | TASK_PENDING_RCU)))
		sched_do_pending();
}

/* Sleep for at least @ns, whatever signals come. */
static inline void sleep_ns(u64 ns)
{
	u64 deadline_ns = ktime_ns() + ns;

	do
		set_current_state(TASK_UNINTERRUPTIBLE);
	while (schedule_until(deadline_ns));
}

/* ---- start-up -------------------------------------------------------------------------------- */

/* The queues of all CPUs. @boot_task, which runs on CPU 0, is to be its idle task; @cred is what
 * kernel threads have for credentials, never to be freed. */
void sched_init(struct task *boot_task, const struct cred *cred);

/* Before the first task_allocate(): so many bytes behind each struct task are the room of
 * processes' own (task->signals). */
void tasks_init(size_t behind);

/* Each further CPU: the task it runs becomes its idle task; then it calls sched_idle_loop(). */
void sched_adopt_idle(struct task *task);
__noreturn void sched_idle_loop(void);

/* ---- for the machine (arch/process.h, arch/time.h) ------------------------------------------- */

/* First thing that a task runs after a switch from @previous, which is freed if it is dead. */
void schedule_tail(struct task *previous);

/* 100 times a second of a busy CPU, interrupts off: it has interrupted a program, or the kernel. */
void scheduler_tick(bool user);

/* ---- for the room of processes --------------------------------------------------------------- */

/* What it does for those who know no process, of tasks that have one; set at start-up: behind
 * send_signal_current(); and at scheduler_tick(), NULL: nothing. */
extern void (*sched_signal_hook)(int signo);
extern void (*sched_tick_hook)(struct task *task, bool user);

/* A task with kernel stack, all else zero; not yet on any queue: wake_up_task() starts it, once it
 * has a niceness. @comm is copied. NULL: no memory. May sleep. */
struct task *task_allocate(const char *comm);
void task_free(struct task *task); /* one that never ran; who has run is freed by the scheduler */

/* How long its time slices are, from -20, six ticks, to 19, one. Any time. */
void task_set_nice(struct task *task, int nice);

/* Have @task look at its pending bits, of which @bits are set now, waking it from the sleeps
 * @states. Any context. */
#define STATE_BIT(state) (1u << (state))
void sched_tell(struct task *task, u32 bits, u32 states);

/* Have what runs on @cpu look at its pending bits, of which @bits are set now: at once if that is a
 * program. Any context, no run queue's lock held. */
void sched_ask(unsigned cpu, u32 bits);

/* The CPU time a task has used, in ns, exact, of any task that is there. Takes its queue's lock.
 * Any context. */
u64 task_run_ns(const struct task *task);

/* What /proc shows of a CPU that has started; added to *sum. */
struct cpu_info {
	u64 user_ns, system_ns; /* exact in their sum, divided by ticks */
	u64 idle_ns, switches;	/* exact */
	unsigned runnable; /* tasks that run or want to */
};
void add_cpu_info(struct cpu_info *sum, unsigned cpu);
