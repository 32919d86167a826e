/*
 * start.S - the first instructions: from 32-bit protected mode, as PVH and multiboot2 loaders leave
 * it, or from 16-bit real mode, where an application processor begins, to C in long mode at the
 * address the kernel is linked at. A processor without long mode or NX resets itself here.
 *
 * Page tables and the first stack: tables.S.
 */
#include "arch/x86/entry/offsets.h"

#define KERNEL_BASE 0xffffffff80000000
#define PHYS(symbol) ((symbol) - KERNEL_BASE)

#define MULTIBOOT2_MAGIC 0xe85250d6
	.section .boot.header, "a"
	.balign 8
multiboot2_header:
	.long MULTIBOOT2_MAGIC
	.long 0 /* i386: enter in 32-bit protected mode, under UEFI too */
	.long multiboot2_end - multiboot2_header
	.long -(MULTIBOOT2_MAGIC + 0 + (multiboot2_end - multiboot2_header))
	/* The only tag: end. */
	.word 0, 0
	.long 8
multiboot2_end:

	.section .note.Xen, "a", @note
	.balign 4
	.long 4, 8, 18 /* name and descriptor sizes, XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.quad PHYS(boot_entry)

	.section .boot.text, "ax"
	.code32
	.globl boot_entry
boot_entry:
	cld
	movl %eax, %edi /* kernel_main's arguments */
	movl %ebx, %esi
	lgdt PHYS(boot_gdt_pointer)

enter_long_mode: /* with the GDT loaded; no memory is touched before the segments are set */
	movl $PHYS(boot_page_table), %eax
	movl %eax, %cr3
	movl $(1 << 5 | 1 << 7 | 1 << 9 | 1 << 10), %eax /* PAE, PGE, OSFXSR, OSXMMEXCPT */
	movl %eax, %cr4
	movl $0xc0000080, %ecx /* EFER: long mode, NX, the instruction syscall */
	rdmsr
	orl $(1 << 8 | 1 << 11 | 1), %eax
	wrmsr
	movl $0x80010033, %eax /* PG, WP, NE, ET, MP, PE */
	movl %eax, %cr0
	ljmp $KERNEL_CS, $PHYS(long_mode)

	.code64
long_mode:
	xorl %eax, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movl %eax, %fs
	movl %eax, %gs
	movl $0xc0000101, %ecx /* GS base */
	movq start_percpu, %rax
	movl $-1, %edx /* its upper half: in the last 4 GB, as all of the image */
	wrmsr
	movq CPU_KERNEL_STACK(%rax), %rsp
	movl %esi, %esi
	xorl %ebp, %ebp
	call *start_function
	ud2

	/* What arch/x86/cpu/setup.c copies to a page below 1 MB, where a processor begins. */
	.globl ap_start, ap_end
	.code16
ap_start:
	lgdtl %cs:(boot_gdt_pointer - ap_start)
	movl $0x11, %eax
	movl %eax, %cr0
	ljmpl $BOOT_CS32, $PHYS(enter_long_mode)
boot_gdt_pointer:
	.word TSS_SELECTOR - 1
	.long PHYS(gdt)
ap_end:

	/* Of the CPU that starts: its struct cpu and its first function. */
	.data
	.balign 8
	.globl start_percpu, start_function
start_percpu:
	.quad cpus
start_function:
	.quad kernel_main

	.section .note.GNU-stack, "", @progbits
