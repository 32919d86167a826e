/*
 * exit.S - the ways back to a program, but for the system call's short one (entry.S), and a new
 * one's first.
 */
#include "arch/x86/entry/registers.h"

	.text
	/* First instruction of a forked task: rax the previous one. */
	.balign 16
	.globl program_begins
program_begins:
	xorl %ebp, %ebp
	movq %rax, %rdi
	call schedule_tail
	jmp exit_long

	.globl exit_to_program
exit_to_program: /* (struct registers *) */
	movq %rdi, %rsp
	xorl %ebp, %ebp
	/* With rsp at the struct registers of a program. */
	.balign 16
	.globl exit_long, exit_pending
exit_long:
	cli
	movq %gs:CPU_CURRENT, %rcx
	cmpl $0, TASK_PENDING(%rcx)
	jne exit_pending
	pop_general
	addq $8, %rsp
	swapgs
	iretq
exit_pending:
	sti
	movq %rsp, %rdi
	call exit_to_user
	jmp exit_long

	.section .note.GNU-stack, "", @progbits
