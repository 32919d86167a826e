/*
 * signal.h - signal numbers, siginfo and what the rest of the kernel may ask of signals.
 *
 * Numbers, flags and layouts are Linux's on x86-64. A signal is sent to a process (shared pending
 * set) or to one of its threads; the thread that is to act on it gets TASK_PENDING_SIGNAL and, on
 * its way to user mode, exit_to_user() takes it from the set and runs the handler or the default
 * action.
 *
 * Everything here is under process_lock (proc/process.h) unless it says otherwise; the lock is
 * taken with interrupts disabled, because terminals and timers send signals from interrupt
 * handlers.
 */
#pragma once

#include "core/kernel.h"

enum { /* SIGXFSZ: fs/abi.h */
	SIGHUP = 1, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1,
	SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD = 17, SIGCONT, SIGSTOP, SIGTSTP,
	SIGTTIN, SIGTTOU, SIGURG, SIGXCPU, SIGVTALRM = 26, SIGPROF, SIGWINCH, SIGIO, SIGPWR,
	SIGSYS, SIGRTMIN, SIGNAL_COUNT = 64
};

enum { SIG_DFL, SIG_IGN };

enum {
	SA_NOCLDSTOP = 1, SA_NOCLDWAIT = 2, SA_SIGINFO = 4, SA_RESTORER = 0x04000000,
	SA_ONSTACK = 0x08000000, SA_RESTART = 0x10000000, SA_NODEFER = 0x40000000,
	SA_RESETHAND = 0x80000000
};

enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };

enum { SS_ONSTACK = 1, SS_DISABLE, MINSIGSTKSZ = 2048 };

enum { SI_TKILL = -6, SI_USER = 0, SI_KERNEL = 0x80 };
enum { SEGV_MAPERR = 1, SEGV_ACCERR, BUS_ADRERR = 2 };
enum { CLD_EXITED = 1, CLD_KILLED, CLD_STOPPED = 5, CLD_CONTINUED };

#define sigmask(signo) (1ULL << ((signo)-1))
#define SIGNALS_STOP (sigmask(SIGSTOP) | sigmask(SIGTSTP) | sigmask(SIGTTIN) | sigmask(SIGTTOU))
#define SIGNALS_IGNORED                                                                            \
	(sigmask(SIGCHLD) | sigmask(SIGCONT) | sigmask(SIGURG) | sigmask(SIGWINCH)) /* by default */
#define SIGNALS_SYNCHRONOUS                                                                        \
	(sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGILL) | sigmask(SIGTRAP) |                 \
	 sigmask(SIGFPE) | sigmask(SIGSYS))
#define SIGNALS_UNBLOCKABLE (sigmask(SIGKILL) | sigmask(SIGSTOP))

struct process;
struct registers;
struct task;

/* The part of Linux's 128-byte siginfo_t that is ever used; the rest is zero. */
struct siginfo {
	s32 signo;
	s32 error;
	s32 code;
	s32 pad;
	union {
		struct { /* kill, SIGCHLD */
			s32 pid;
			u32 uid;
			s32 status;
		};
		u64 address; /* faults */
	};
};
_Static_assert(sizeof(struct siginfo) == 32, "the used part of siginfo_t");
#define SIGINFO_USER_SIZE 128

/* struct kernel_sigaction of the ABI. */
struct signal_action {
	u64 handler;
	u64 flags;
	u64 restorer;
	u64 mask;
};

struct signal_stack {
	u64 sp;
	s32 flags;
	s32 pad;
	u64 size;
};

static inline bool on_signal_stack(const struct signal_stack *stack, u64 sp)
{
	return !(stack->flags & SS_DISABLE) && sp > stack->sp && sp - stack->sp <= stack->size;
}

/* Of a thread; allocated with its task. Written by the thread itself. */
struct signal_state {
	u64 pending; /* for this thread alone; process_lock */
	struct siginfo fault; /* its own doing, if .signo is set and pending */
	u64 blocked;
	/* Other than that while rt_sigsuspend, rt_sigtimedwait, ppoll or pselect change it: what it
	 * will be again. A signal in it is kept even if it is ignored. */
	u64 saved_blocked;
	bool repeats;	 /* a call is made again after a signal without a handler, and keeps */
	u64 deadline_ns; /* the end of its wait (wait_deadline(), core/time.h) */
	struct signal_stack stack;
};

/* Send @signo with @info (NULL: from the kernel) to @thread, or, when that is NULL, to the process.
 * process_lock held. */
void signal_send_locked(struct process *process, struct task *thread, int signo,
			const struct siginfo *info);

/* Raise @signo in the current thread whether it is blocked or ignored or not (faults). */
void force_signal(int signo, int code, u64 address);

/* Have the threads of @process that do not block all of @signals look at their signals, waking them
 * from the sleeps @states. process_lock held. */
void signal_tell_threads(struct process *process, u64 signals, u32 states);

/* Set current's mask; until the call ends, or a signal ends it, but leave what is to come back. */
void signal_set_blocked(u64 blocked);
void signal_set_temporarily(u64 blocked);

/* The set that a program passes: 0, -EINVAL (not of @size), -EFAULT. */
int get_signal_set(const u64 *from, size_t size, u64 *set);

/* exit_to_user()'s part: act on all that is pending for current. */
void signals_deliver(struct registers *registers);
