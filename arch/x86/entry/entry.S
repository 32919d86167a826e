/*
 * entry.S - every way into the kernel from outside. The ways back to a program: exit.S.
 *
 * A full struct registers (arch/process.h) is pushed by all of them. From user mode it lies at the
 * top of the task's kernel stack. The system call's short return reloads only what C functions do
 * not preserve; whoever rewrites registers leaves by the long one (exit_long), which ends in iretq.
 * GS: swapped on the way in from user mode and on the way out; NMI, double fault and machine check
 * can come between the two and look at the GS base itself.
 */
#include "arch/x86/entry/registers.h"

	/* The rest of struct registers after what interrupted, when GS is not yet looked at. */
	.macro push_interrupted
	push_general
	smap_site clac
	cld
	leaq 1(%rsp), %rbp /* marked: registers, not a frame */
	.endm

	.text
	.balign 64
	.globl syscall_entry
syscall_entry:
	swapgs
	movq %rsp, %gs:CPU_USER_SP
	movq %gs:CPU_KERNEL_STACK, %rsp
	pushq $USER_DS
	pushq %gs:CPU_USER_SP
	pushq %r11
	pushq $USER_CS
	pushq %rcx
	pushq %rax
	pushq %rdi
	push_general
	sti
#ifdef CONFIG_SHORT_TURNS
	.long 0x841f0f, 0xc4c4fe00 | 0 /* arch/cpu.h: TURN_MARK(TURN_ASIDE) */
	call turn_point
	.long 0x841f0f, 0xc4c4fe00 | 1 /* TURN_BACK */
#endif
	movl %eax, %eax
	movq %r10, %rcx
	cmpl syscall_count(%rip), %eax
	jae 2f
	call *syscall_table(, %rax, 8)
1:	cli
	movq %gs:CPU_CURRENT, %rcx
	cmpl $0, TASK_PENDING(%rcx)
	jne 3f
	addq $48, %rsp /* r15 .. rbx still hold the program's values */
	pop r11, r10, r9, r8
	addq $8, %rsp
	pop rcx, rdx, rsi, rdi
	movq 32(%rsp), %rsp
	swapgs
	sysretq

2:	call syscall_other
	jmp 1b
3:	movq %rax, REGISTERS_AX(%rsp)
	jmp exit_pending

	/* Exceptions and interrupts: "error code", rdi and the vector are there when these
	 * begin. */
	.balign 16
interrupt_common:
	testb $3, 24(%rsp)
	jz 1f
	swapgs
1:	push_interrupted
	movq %rsp, %rsi
	call trap_handle
interrupt_return:
	testb $3, REGISTERS_CS(%rsp)
	jnz exit_long
	pop_general
	addq $8, %rsp
	iretq

	.balign 16
	.globl page_fault_entry
page_fault_entry:
	pushq %rdi
	testb $3, 24(%rsp)
	jz 1f
	swapgs
1:	push_interrupted
	movq %rsp, %rdi
	call trap_page_fault
	jmp interrupt_return

	/* On a stack of their own, and with either GS base: NMI, double fault and machine check,
	 * from which there is no return. */
	.balign 16
paranoid_common:
	push_interrupted
	movl $0xc0000101, %ecx
	rdmsr
	testl %edx, %edx
	js 1f
	swapgs
1:	movq %rsp, %rsi
	call trap_handle
	ud2

	/* One stub a vector, TRAP_STUB_BYTES each, from which traps.c builds the IDT. */
	.balign TRAP_STUB_BYTES
	.globl trap_stubs
trap_stubs:
	.set vector, 0
	.rept 256
	.balign TRAP_STUB_BYTES
	.if !(vector == 8 || (vector >= 10 && vector <= 14) || vector == 17)
	pushq $-1
	.endif
	.if vector == 14
	jmp page_fault_entry
	.else
	pushq %rdi
	movl $vector, %edi
	.if vector == 2 || vector == 8 || vector == 18
	jmp paranoid_common
	.else
	jmp interrupt_common
	.endif
	.endif
	.set vector, vector + 1
	.endr

	.section .note.GNU-stack, "", @progbits
