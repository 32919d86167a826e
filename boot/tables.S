/*
 * tables.S - memory that start.S runs on: the page tables of the first steps, the first processor's
 * stack.
 *
 * The tables map the first 4 GB three times: at 0 (until the jump), at the direct map and, its
 * first gigabyte, at the kernel's base; all executable. arch/x86/memory/mmu.c replaces them with
 * tables that are not.
 */
#include "arch/x86/entry/offsets.h"

#define KERNEL_BASE 0xffffffff80000000
#define PHYS(symbol) ((symbol) - KERNEL_BASE)

#define STACK_SIZE 16384 /* KERNEL_STACK_SIZE; above it the stacks of exceptions */
#define GUARD_SIZE 4096	 /* which mmu.c unmaps */

	.globl boot_page_table, boot_stack, boot_guard

	/* Entries: present, writable; those of the 2048 large pages accessed and dirty as well. */
	.data
	.balign 4096
boot_page_table:
	.quad PHYS(boot_pointers) + 3
	.fill 255, 8, 0
	.quad PHYS(boot_pointers) + 3 /* entry 256: the direct map */
	.fill 254, 8, 0
	.quad PHYS(boot_pointers) + 3 /* the last, and its last but one: the kernel's base */
boot_pointers:
	.irp gigabyte, 0, 1, 2, 3
	.quad PHYS(boot_directories) + 4096 * \gigabyte + 3
	.endr
	.fill 506, 8, 0
	.quad PHYS(boot_directories) + 3
	.quad 0
boot_directories:
	.set address, 0
	.rept 2048
	.quad address + 0xe3
	.set address, address + 0x200000
	.endr

	.bss
	.balign 4096
boot_guard:
	.skip GUARD_SIZE
boot_stack:
	.skip STACK_SIZE + EXCEPTION_STACKS * 4096

	.section .note.GNU-stack, "", @progbits
