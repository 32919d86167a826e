/*
 * switch.S - from one kernel stack to another.
 */
#include "kernel/x86/offsets.h"

	.text
	.balign 16
	/* struct task *arch_switch_stacks(struct task *previous, struct task *next) */
	.globl arch_switch_stacks
arch_switch_stacks:
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, TASK_SP(%rdi)
	movq TASK_SP(%rsi), %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	movq %rdi, %rax
	ret

	.section .note.GNU-stack, "", @progbits
