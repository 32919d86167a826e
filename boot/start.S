/*
 * start.S - the first instructions: from 32-bit protected mode, as PVH and multiboot2 loaders leave
 * it, or from 16-bit real mode, where an application processor begins, to C in long mode at the
 * address the kernel is linked at.
 *
 * The tables built here map the first 4 GB three times: at 0 (until the jump), at the direct map
 * and, its first gigabyte, at the kernel's base; all executable. kernel/x86/mmu.c replaces
 * them with tables that are not.
 */
#define KERNEL_BASE 0xffffffff80000000
#define PHYS(symbol) ((symbol) - KERNEL_BASE)

#define MULTIBOOT2_MAGIC 0xe85250d6
#define PVH_MAGIC 0x336ec578
#define STACK_SIZE 16384 /* KERNEL_STACK_SIZE; above it the stacks of exceptions */
#define EXCEPTION_STACKS 3

	.section .boot.header, "a"
	.balign 8
multiboot2_header:
	.long MULTIBOOT2_MAGIC
	.long 0 /* i386: enter in 32-bit protected mode, under UEFI too */
	.long multiboot2_end - multiboot2_header
	.long -(MULTIBOOT2_MAGIC + 0 + (multiboot2_end - multiboot2_header))
	/* Entry point, physical (the image's e_entry is not). */
	.balign 8
	.word 3, 0
	.long 12
	.long PHYS(boot_entry_multiboot2)
	/* Modules (the initial RAM disk) on page boundaries. */
	.balign 8
	.word 6, 0
	.long 8
	/* End. */
	.balign 8
	.word 0, 0
	.long 8
multiboot2_end:

	.section .note.Xen, "a", @note
	.balign 4
	.long 4, 8, 18 /* name and descriptor sizes, XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.quad PHYS(boot_entry_pvh)

	.section .boot.text, "ax"
	.code32
	.globl boot_entry_multiboot2
boot_entry_pvh:
	movl $PVH_MAGIC, %eax
boot_entry_multiboot2:
	cli
	cld
	movl %eax, %edi /* kernel_main's arguments */
	movl %ebx, %esi

	movl $0x80000001, %eax
	cpuid
	notl %edx
	testl $(1 << 29 | 1 << 20), %edx
3:	jnz 3b /* no long mode or no NX: not a machine for us */

	/* 2048 large pages: present, writable, accessed, dirty. */
	movl $PHYS(boot_directories), %ecx
	movl $0xe3, %eax
1:	movl %eax, (%ecx)
	addl $8, %ecx
	addl $0x200000, %eax
	jnc 1b
	movl $(PHYS(boot_directories) + 3), %eax
	movl $PHYS(boot_pointers), %ecx
	movl %eax, 4080(%ecx) /* entry 510: the kernel's base */
	movl $4, %edx
2:	movl %eax, (%ecx)
	addl $4096, %eax
	addl $8, %ecx
	decl %edx
	jnz 2b
	movl $(PHYS(boot_pointers) + 3), %eax
	movl %eax, PHYS(boot_page_table)
	movl %eax, PHYS(boot_page_table) + 256 * 8
	movl %eax, PHYS(boot_page_table) + 511 * 8

enter_long_mode:
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
	lgdt PHYS(boot_gdt_pointer)
	ljmp $8, $PHYS(long_mode)

	.code64
long_mode:
	movabsq $high, %rax
	jmp *%rax
high:
	xorl %eax, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movl %eax, %fs
	movl %eax, %gs
	movq start_stack, %rsp
	movl $0xc0000101, %ecx /* GS base */
	movq start_percpu, %rax
	movq %rax, %rdx
	shrq $32, %rdx
	wrmsr
	movl %edi, %edi
	movl %esi, %esi
	xorl %ebp, %ebp
	call *start_function
	ud2

	/* What kernel/x86/setup.c copies to a page below 1 MB, where a processor begins. */
	.globl ap_start, ap_end
	.code16
ap_start:
	cli
	cld
	lgdtl %cs:(ap_gdt_pointer - ap_start)
	movl $0x11, %eax
	movl %eax, %cr0
	ljmpl $24, $PHYS(ap_protected)
ap_gdt_pointer:
	.word 31
	.long PHYS(boot_gdt)
ap_end:
	.code32
ap_protected:
	movl $16, %eax
	movl %eax, %ds
	movl %eax, %ss
	jmp enter_long_mode

	.section .rodata
	.balign 8
boot_gdt:
	.quad 0
	.quad 0x00af9a000000ffff /* 64-bit code */
	.quad 0x00cf92000000ffff /* data */
	.quad 0x00cf9a000000ffff /* 32-bit code */
boot_gdt_pointer:
	.word 31
	.long PHYS(boot_gdt)

	/* Of the CPU that starts: its stack, its struct cpu, its first function. */
	.data
	.balign 8
	.globl start_stack, start_percpu, start_function
start_stack:
	.quad boot_stack + STACK_SIZE
start_percpu:
	.quad cpus
start_function:
	.quad kernel_main

	.bss
	.balign 4096
	.globl boot_page_table, boot_stack
boot_page_table:
	.skip 4096
boot_pointers:
	.skip 4096
boot_directories:
	.skip 4 * 4096
boot_stack:
	.skip STACK_SIZE + EXCEPTION_STACKS * 4096

	.section .note.GNU-stack, "", @progbits
