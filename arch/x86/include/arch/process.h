/*
 * process.h - threads as the machine sees them: a program's registers, the switch, the way to user
 * mode.
 *
 * Every entry from user mode (system call, interrupt, fault) leaves a full struct registers at the
 * top of the task's kernel stack: task_registers(task). A system call returns by a short path that
 * reloads only what the C ABI does not preserve; so code that rewrites registers wholesale (execve,
 * rt_sigreturn) must leave by arch_return_to_user(). exit_to_user() of proc/ may change anything:
 * the long path follows.
 *
 * What higher rooms supply to the entry code, since a program enters by it what lies above:
 *	syscall_table[], syscall_count	(kernel/sys)  u64 (*)(u64 x 6); out of range:
 *					syscall_other
 *	exit_to_user(), force_signal()	(kernel/proc)
 *	mm_fault()			(mm/space)
 */
#pragma once

#include "core/sched/task.h"
#include "core/base/types.h"

/* In the order in which entry.S pushes. The names and order are those of Linux's user_regs. */
struct registers {
	u64 r15, r14, r13, r12, bp, bx;
	u64 r11, r10, r9, r8;
	u64 ax, cx, dx, si, di;
	u64 orig_ax; /* system call number; after a fault the error code; (u64)-1 otherwise */
	u64 ip, cs, flags, sp, ss;
};

/* Was the code that was interrupted a program's? */
#define user_mode(registers) (((registers)->cs & 3) != 0)

/* On the way to user mode, interrupts on: called while current->pending != 0. May sleep, and need
 * not return. */
void exit_to_user(struct registers *registers);

/* Raise @signo in the current thread, of a fault of its own, whether it is blocked or ignored or
 * not. */
void force_signal(int signo, int code, u64 address);

/* Mend a page fault of @access (FAULT_*) at @address: 0, or -errno (mm/space/vm.h). */
struct mm;
int mm_fault(struct mm *mm, u64 address, unsigned access);

/* Bytes at the top of a kernel stack that hold the vector registers: an XSAVE image of x87, SSE and
 * AVX, a multiple of 64. */
#define FPU_AREA_SIZE 832

#define LONGEST_INSTRUCTION 15 /* bytes */

/* The program's registers of a user task that is not in user mode. Not of a kernel thread. */
static inline struct registers *task_registers(const struct task *task)
{
	return (struct registers *)(task->kernel_stack + KERNEL_STACK_SIZE - FPU_AREA_SIZE) - 1;
}
#define current_registers() task_registers(current)

/*
 * Switch from @previous (current) to @next, with interrupts disabled; the caller has switched the
 * address space. Returns when @previous runs again: the task that was switched away from to get
 * here.
 */
struct task *arch_switch(struct task *previous, struct task *next);

/* A kernel stack, its lowest address; NULL: out of memory. May sleep. */
void *arch_stack_alloc(void);
void arch_stack_free(void *stack); /* any context but an interrupt's */

/* Prepare @task, whose kernel_stack is set, to run function(argument) in the kernel when first
 * switched to. */
void arch_prepare_kernel_thread(struct task *task, int (*function)(void *), void *argument);

/*
 * Prepare @child, a copy of current made by fork, to return to user mode with current's registers
 * and 0 in the return value; @sp != 0 replaces the stack pointer, @set_tls the thread pointer by
 * @tls.
 */
void arch_prepare_fork(struct task *child, u64 sp, bool set_tls, u64 tls);

/* execve, for a kernel thread too: start the program in current's registers afresh, all zero but
 * these; resets the vector state and thread pointer; never returns. Interrupts enabled, no locks
 * held. */
__noreturn void arch_enter_user(u64 entry, u64 sp);

/* Leave for user mode with all that task_registers(current) says, through exit_to_user() if
 * anything is pending. A system call that rewrote the registers ends thus. */
#define arch_return_to_user() exit_to_program(current_registers())
__noreturn void exit_to_program(struct registers *registers);
