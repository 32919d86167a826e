/*
 * registers.h - pushing and popping registers in the order of struct registers (arch/process.h),
 * for assembly.
 */
#pragma once

#include "arch/x86/entry/offsets.h"

	.macro push registers:vararg
	.irp register, \registers
	pushq %\register
	.endr
	.endm

	.macro pop registers:vararg
	.irp register, \registers
	popq %\register
	.endr
	.endm

	.macro push_general
	push rsi, rdx, rcx, rax, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15
	.endm

	.macro pop_general
	pop r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi
	.endm
