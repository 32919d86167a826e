/*
 * contexts.S - tasks that change at any instruction. All of them run with the trap flag, so that
 * behind each instruction comes `step`; into NEXT the plugin has just written who goes on.
 */
#include "tasks.h"

	.text
	.globl contexts_begin, contexts_enter, contexts_step, contexts_end
contexts_begin:
contexts_enter: /* context 0 waits until it is chosen again */
	movq %rsp, %rax
	pushq $0
	pushq %rax
	pushfq
	pushq $8
	pushq $1f
	jmp change

	.balign 16
contexts_step:
	cmpl $0, NEXT
	jne change
	iretq

change:
	.irp register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	pushq %\register
	.endr
	movl CURRENT, %eax
	movq %rsp, CONTEXTS(, %rax, 8)
	movl NEXT, %eax
	decl %eax
	movl %eax, CURRENT
	movl $0, NEXT
	movq CONTEXTS(, %rax, 8), %rsp
	.irp register, r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax
	popq %\register
	.endr
	iretq
1:	ret
contexts_end:
	.section .note.GNU-stack, "", @progbits
