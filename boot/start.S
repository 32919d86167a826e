/*
 * start.S - the first instructions: from 32-bit protected mode, as PVH and multiboot2 loaders leave
 * it, to kernel_main() in long mode at the address the kernel is linked at.
 *
 * The tables built here map the first 4 GB three times: at 0 (until the jump, and for the
 * application processors' start), at the direct map and, its first gigabyte, at the kernel's base;
 * all executable. kernel/x86/mmu.c replaces them with tables that are not.
 */
#define KERNEL_BASE 0xffffffff80000000
#define PHYS(symbol) ((symbol) - KERNEL_BASE)

#define MULTIBOOT2_MAGIC 0xe85250d6
#define PVH_MAGIC 0x336ec578
#define STACK_SIZE 16384

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
	.globl boot_entry_pvh, boot_entry_multiboot2
boot_entry_pvh:
	movl $PVH_MAGIC, %eax
boot_entry_multiboot2:
	cli
	cld
	movl $PHYS(boot_stack_end), %esp
	movl %eax, %edi /* kernel_main's arguments */
	movl %ebx, %esi

	movl $0x80000001, %eax
	cpuid
	testl $(1 << 29), %edx
	jz no_long_mode
	movl %edx, %ebp

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

	movl $PHYS(boot_page_table), %eax
	movl %eax, %cr3
	movl $(1 << 5 | 1 << 7 | 1 << 9 | 1 << 10), %eax /* PAE, PGE, OSFXSR, OSXMMEXCPT */
	movl %eax, %cr4
	movl $0xc0000080, %ecx /* EFER: long mode, NX if there is NX */
	rdmsr
	orl $(1 << 8), %eax
	testl $(1 << 20), %ebp
	jz 3f
	orl $(1 << 11), %eax
3:	wrmsr
	movl $0x80010033, %eax /* PG, WP, NE, ET, MP, PE */
	movl %eax, %cr0
	lgdt PHYS(boot_gdt_pointer)
	ljmp $8, $PHYS(long_mode)

no_long_mode:
	movl $PHYS(no_long_mode_text), %esi
	movw $0x3f8, %dx
4:	lodsb
	testb %al, %al
	jz 5f
	outb %al, %dx
	jmp 4b
5:	hlt
	jmp 5b
no_long_mode_text:
	.asciz "Chainwalk needs a 64-bit processor.\r\n"

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
	movq $boot_stack_end, %rsp
	movl $0xc0000101, %ecx /* GS base: this is CPU 0 */
	movq $cpus, %rax
	movq %rax, %rdx
	shrq $32, %rdx
	wrmsr
	movl %edi, %edi
	movl %esi, %esi
	xorl %ebp, %ebp
	call kernel_main
	ud2

	.section .rodata
	.balign 8
	.globl boot_gdt, boot_gdt_pointer
boot_gdt:
	.quad 0
	.quad 0x00af9a000000ffff /* 64-bit code */
	.quad 0x00cf92000000ffff /* data */
boot_gdt_pointer:
	.word . - boot_gdt - 1
	.long PHYS(boot_gdt)

	.bss
	.balign 4096
	.globl boot_page_table, boot_stack, boot_stack_end
boot_page_table:
	.skip 4096
boot_pointers:
	.skip 4096
boot_directories:
	.skip 4 * 4096
boot_stack:
	.skip STACK_SIZE
boot_stack_end:

	.section .note.GNU-stack, "", @progbits
