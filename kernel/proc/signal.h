/*
 * signal.h - what the rest of the kernel may ask of signals. Their numbers: core/signal.h.
 *
 * A signal is sent to a process (shared pending
 * set) or to one of its threads; the thread that is to act on it gets TASK_PENDING_SIGNAL and, on
 * its way to user mode, exit_to_user() takes it from the set and runs the handler or the default
 * action.
 *
 * Everything here is under process_lock (proc/process.h) unless it says otherwise; the lock is
 * taken with interrupts disabled, because terminals and timers send signals from interrupt
 * handlers.
 */
#pragma once

#include <arch/process.h>

#include "core/kernel.h"
#include "core/signal.h"

struct process;
struct registers;
struct task;

/* Of a thread; allocated with its task. The thread alone changes it, but for `pending`. */
struct signal_state {
	u64 pending; /* for this thread alone; process_lock */
	struct siginfo fault; /* its own doing, if .signo is set and pending; process_lock */
	u64 blocked; /* changed under process_lock; others look at it under that */
	/* Other than that while rt_sigsuspend, rt_sigtimedwait, ppoll, pselect or epoll_pwait
	 * change it: what it will be again. A signal in it is kept even if it is ignored. Others
	 * look at it under process_lock, but it changes without. */
	u64 saved_blocked;
	bool repeats;	 /* a call is made again after a signal without a handler, and keeps */
	u64 deadline_ns; /* the end of its wait (wait_deadline(), process.h) */
	struct signal_stack stack;
};

/* Take @signals out of what is pending for @process and its threads. */
void signal_drop(struct process *process, u64 signals);
/* Take the next signal for current among those not in @blocked: its number or 0. */
int signal_dequeue(u64 blocked, struct siginfo *info);
/* Set current's TASK_PENDING_SIGNAL as what is pending and blocked now says. */
void signal_recalculate(void);

/* Send @signo with @info (NULL: from the kernel) to @thread, or, when that is NULL, to the process.
 * process_lock held. */
void signal_send_locked(struct process *process, struct task *thread, int signo,
			const struct siginfo *info);

/* Have the threads of @process that do not block all of @signals look at their signals, waking them
 * from the sleeps @states. process_lock held. */
void signal_tell_threads(struct process *process, u64 signals, u32 states);

/* All threads of @process but @survivor (NULL: all) are to end, now that thread_must_end() says so.
 * process_lock held. */
void signal_end_threads(struct process *process, const struct task *survivor);

/* Set current's mask; until the call ends, or a signal ends it, but leave what is to come back.
 * These take process_lock. */
void signal_set_blocked(u64 blocked);
void signal_set_temporarily(u64 blocked);

/* The set that a program passes: 0, -EINVAL (not of @size), -EFAULT. No spinlock held. */
int get_signal_set(const u64 *from, size_t size, u64 *set);

/* The hook behind send_signal_current(). Takes process_lock. */
void signal_current(int signo);
