/*
 * switch_stacks.S - from one kernel stack to another.
 */
#include "arch/x86/entry/registers.h"

	.text
	/* struct task *arch_switch_stacks(struct task *previous, struct task *next) */
	.balign 16
	.globl arch_switch_stacks
arch_switch_stacks:
	push rbp, rbx, r12, r13, r14, r15
	movq %rsp, TASK_SP(%rdi)
	movq TASK_SP(%rsi), %rsp
	pop r15, r14, r13, r12, rbx, rbp
	movq %rdi, %rax
	ret

	/* First instruction of a kernel thread: rax the previous task, r12 a function, r13 its
	 * argument. */
	.globl kernel_thread_begins
kernel_thread_begins:
	xorl %ebp, %ebp
	movq %rax, %rdi
	call schedule_tail
	sti
	movq %r13, %rdi
	call *%r12
	ud2			/* kernel threads run for ever */

	.section .note.GNU-stack, "", @progbits
