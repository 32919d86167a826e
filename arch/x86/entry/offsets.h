/*
 * offsets.h - what assembly must know of C: where it finds fields of structures (traps.c checks
 * each at build), selectors and vectors.
 */
#pragma once

#define CPU_CURRENT 8
#define CPU_KERNEL_STACK 16
#define CPU_USER_SP 24

#define TASK_SP 0
#define TASK_PENDING 84

/* struct registers */
#define REGISTERS_AX 80
#define REGISTERS_CS 136

/* Selectors: Linux's, which programs see in their registers. */
#define BOOT_CS32 0x08 /* of a processor's first steps (boot/start.S) */
#define KERNEL_CS 0x10
#define KERNEL_DS 0x18
#define USER_CS32 0x23 /* the base of sysretq; there is no such segment */
#define USER_DS 0x2b
#define USER_CS 0x33
#define TSS_SELECTOR 0x40 /* of the first CPU; two entries each */

#define TRAP_STUB_BYTES 16 /* of each vector, in entry.S */

#define EXCEPTION_STACKS 3 /* of each CPU, a page each; the first one's lie above its boot_stack */

/* Interrupt vectors: 0..31 exceptions, then devices. */
#define VECTOR_DEVICE_FIRST 0x20
#define VECTOR_TIMER 0xf0
#define VECTOR_RESCHEDULE 0xf1
#define VECTOR_FLUSH 0xf2
#define VECTOR_SPURIOUS 0xff

#ifdef __ASSEMBLER__
	/* stac or clac, over which boot puts a no-op when the CPU has no SMAP. */
	.macro smap_site instruction
661:	\instruction
	.pushsection .smap_sites, "a"
	.quad 661b
	.popsection
	.endm
#endif
