/*
 * signal.h - signals as programs know them: numbers, flags, sets, and the structures of the ABI,
 * Linux's on x86-64. For those who send signals (kernel/), and for the machine, which puts them on
 * a program's stack (<arch/signal.h>).
 */
#pragma once

#include "core/base/types.h"

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
