/*
 * signal.h - signal frames and interrupted system calls, as the machine's registers show them.
 *
 * A frame has the layout of Linux's rt_sigframe on x86-64: return address (the action's restorer),
 * ucontext with the registers, siginfo; above it, 64-byte aligned, the vector state as an XSAVE
 * image.
 */
#pragma once

#include <arch/process.h>

#include "core/base/types.h"

struct siginfo;
struct signal_action;
struct signal_stack;

/*
 * Save @registers, the vector state, @blocked (the mask to return to) and @info on the program's
 * stack, or the alternative one, @stack, and set @registers to run the handler. 0, or -EFAULT when
 * there is no stack.
 */
int arch_push_signal_frame(struct registers *registers, const struct signal_action *action,
			   const struct siginfo *info, u64 blocked,
			   const struct signal_stack *stack);

/* rt_sigreturn: the reverse; *blocked and *stack from the frame. 0 or -EFAULT. End by
 * arch_return_to_user(). */
int arch_pop_signal_frame(struct registers *registers, u64 *blocked, struct signal_stack *stack);

/* What becomes of the call is settled: a later signal is not to look at its result again. */
#define arch_end_syscall(registers) ((void)((registers)->orig_ax = ~0ULL))

/* The errno that the system call being left returns, or 0: not a call, or no error. */
static inline int arch_syscall_error(const struct registers *registers)
{
	bool failed = registers->orig_ax != ~0ULL && registers->ax >= (u64)-4095;

	return failed ? (int)-(s64)registers->ax : 0;
}

/* Make the call again when the program runs on: `syscall` is two bytes. */
static inline void arch_repeat_syscall(struct registers *registers)
{
	registers->ax = registers->orig_ax;
	registers->ip -= 2;
}

#define ARCH_SIGNAL_STACK_SIZE 2048 /* what a handler needs, for AT_MINSIGSTKSZ */
