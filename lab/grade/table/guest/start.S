/*
 * start.S - the machine's first instructions: from 32-bit protected mode, as PVH leaves it, to
 * serve() in long mode. The 64 MB that there are are mapped where they are, but for the first two:
 * a null pointer leads nowhere, and with no interrupt table every fault ends the machine.
 */
	.section .note.Xen, "a", @note
	.balign 4
	.long 4, 4, 18 /* name and descriptor sizes, XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.long machine_start

	.text
	.code32
	.globl machine_start
machine_start:
	cld
	lgdt gdt_pointer
	movl $page_table, %eax
	movl %eax, %cr3
	movl $(1 << 5), %eax /* PAE */
	movl %eax, %cr4
	movl $0xc0000080, %ecx /* EFER: long mode */
	rdmsr
	orl $(1 << 8), %eax
	wrmsr
	movl $0x80010011, %eax /* PG, WP, ET, PE */
	movl %eax, %cr0
	ljmp $8, $long_mode

	.code64
long_mode:
	xorl %eax, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movl $stack_end, %esp
	xorl %ebp, %ebp
	call serve
	ud2

	.data
	.globl tables_begin, tables_end
	.balign 8
tables_begin:
gdt:
	.quad 0, 0x00af9b000000ffff /* 64-bit code */
gdt_pointer:
	.word 15
	.long gdt
	.balign 4096
page_table:
	.quad pointers + 3
	.fill 511, 8, 0
pointers:
	.quad directory + 3
	.fill 511, 8, 0
directory: /* large pages, present and writable */
	.quad 0
	.set address, 0x200000
	.rept 31
	.quad address + 0x83
	.set address, address + 0x200000
	.endr
	.fill 480, 8, 0
tables_end:

	.bss
	.balign 4096
	.skip 65536
stack_end:
	.section .note.GNU-stack, "", @progbits
