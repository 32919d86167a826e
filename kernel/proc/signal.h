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

#include "kernel/core/kernel.h"

enum { /* SIGXFSZ: fs/abi.h */
	SIGHUP = 1, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1,
	SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD = 17, SIGCONT, SIGSTOP, SIGTSTP,
	SIGTTIN, SIGTTOU, SIGURG, SIGXCPU, SIGVTALRM = 26, SIGPROF, SIGWINCH, SIGIO, SIGPWR,
	SIGSYS, SIGRTMIN, SIGNAL_COUNT = 64
};

#define SIG_DFL 0
#define SIG_IGN 1

enum {
	SA_NOCLDSTOP = 1, SA_NOCLDWAIT = 2, SA_SIGINFO = 4, SA_RESTORER = 0x04000000,
	SA_ONSTACK = 0x08000000, SA_RESTART = 0x10000000, SA_NODEFER = 0x40000000,
	SA_RESETHAND = 0x80000000
};

enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };

#define SS_ONSTACK 1
#define SS_DISABLE 2
#define SS_AUTODISARM (1u << 31)
#define MINSIGSTKSZ 2048

#define SI_USER 0
#define SI_KERNEL 0x80
#define SI_TKILL (-6)
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRERR 2
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
		struct { /* kill, SIGCHLD; value: rt_sigqueueinfo */
			s32 pid;
			u32 uid;
			union {
				s32 status;
				u64 value;
			};
			s64 utime, stime; /* in clock ticks of 1/100 s */
		};
		u64 address; /* faults */
		u64 raw[4];
	};
};
_Static_assert(sizeof(struct siginfo) == 48, "the used part of siginfo_t");
#define SIGINFO_USER_SIZE 128

/* struct kernel_sigaction of the ABI. */
struct signal_action {
	u64 handler;
	u64 flags;
	u64 restorer;
	u64 mask;
};

struct signal_queue {
	u64 set;	       /* bit signo-1: pending */
	struct list_head list; /* struct queued_signal, oldest first */
};

struct signal_stack {
	u64 sp;
	s32 flags;
	s32 pad;
	u64 size;
};

/* How a call that was interrupted goes on in restart_syscall(2). */
struct restart {
	s64 (*function)(struct restart *restart);
	u64 deadline_ns;  /* monotonic clock, ~0: none */
	u64 arguments[3]; /* the function's own */
};

/* Of a thread; allocated with its task. Written by the thread itself, `pending` by any sender. */
struct signal_state {
	u64 blocked;
	u64 saved_blocked; /* to restore when a signal ends rt_sigsuspend, ppoll, pselect */
	bool restore_blocked;
	u64 awaited; /* by rt_sigtimedwait: not blocked, but not to be thrown away when ignored */
	struct signal_queue pending;
	struct signal_stack stack;
	struct restart restart;
};

void signal_init(void);
void signal_queue_init(struct signal_queue *queue);
/* process_lock held */
void signal_queue_flush(struct process *process, struct signal_queue *queue);

/*
 * Send @signo with @info (NULL: from the kernel) to @thread, or, when that is NULL, to the process.
 * 0, or -EAGAIN when a real-time signal can't be queued. process_lock held.
 */
int signal_send_locked(struct process *process, struct task *thread, int signo,
		       const struct siginfo *info);

/* Send to each process of group @pgid; number of processes. process_lock held. */
int signal_group_locked(pid_t pgid, int signo);

/* Raise @signo in the current thread whether it is blocked or ignored or not (faults). */
void force_signal(int signo, int code, u64 address);

/* Is there a signal that may have been meant for our whole group, and is no timer's? process_lock
 * held. */
bool signal_before_fork(void);

/* Have @task look at its signals, waking it from the sleeps @states. process_lock held. */
void signal_tell(struct task *task, u32 states);

/* Set current's mask. */
void signal_set_blocked(u64 blocked);

/* exit_to_user()'s part: act on all that is pending for current. */
void signals_deliver(struct registers *registers);

/* A thread is off the list: what it left of the process's signals is for others. process_lock held.
 */
void signal_thread_left(struct process *process);

/* execve: handlers back to default, alternative stack gone. */
void signals_exec(void);
