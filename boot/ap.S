/*
 * ap.S - where an application processor begins: 16-bit real mode, at a page below 1 MB.
 *
 * kernel/x86/smp.c copies ap_start..ap_end to that page, fills in ap_stack and ap_cpu, and sends
 * the start-up interrupt. The code knows its own page from CS. It goes to long mode on the boot
 * page tables (the only ones that map the first megabyte at 0) and on to ap_main(cpu).
 */
#define KERNEL_BASE 0xffffffff80000000
#define PHYS(symbol) ((symbol) - KERNEL_BASE)
#define OFFSET(symbol) ((symbol) - ap_start)

	.section .rodata
	.balign 16
	.globl ap_start, ap_end, ap_stack, ap_cpu
	.code16
ap_start:
	cli
	cld
	movw %cs, %ax
	movw %ax, %ds
	movzwl %ax, %ebx
	shll $4, %ebx /* our page's address */
	leal OFFSET(ap_protected)(%ebx), %eax
	movl %eax, OFFSET(ap_far_pointer)
	leal OFFSET(ap_gdt)(%ebx), %eax
	movl %eax, OFFSET(ap_gdt_pointer) + 2
	lgdtl OFFSET(ap_gdt_pointer)
	movl $0x11, %eax
	movl %eax, %cr0
	ljmpl *OFFSET(ap_far_pointer)

	.code32
ap_protected:
	movl $16, %eax
	movl %eax, %ds
	movl %eax, %ss
	movl $0x80000001, %eax
	movl %ebx, %edi
	cpuid
	movl %edx, %ebp
	movl $PHYS(boot_page_table), %eax
	movl %eax, %cr3
	movl $(1 << 5 | 1 << 7 | 1 << 9 | 1 << 10), %eax
	movl %eax, %cr4
	movl $0xc0000080, %ecx
	rdmsr
	orl $(1 << 8), %eax
	testl $(1 << 20), %ebp
	jz 1f
	orl $(1 << 11), %eax
1:	wrmsr
	movl $0x80010033, %eax
	movl %eax, %cr0
	leal OFFSET(ap_long)(%edi), %eax
	movl %eax, OFFSET(ap_far_pointer)(%edi)
	movw $24, OFFSET(ap_far_pointer) + 4(%edi)
	ljmp *OFFSET(ap_far_pointer)(%edi)

	.code64
ap_long:
	movq OFFSET(ap_stack)(%rdi), %rsp
	movq OFFSET(ap_cpu)(%rdi), %rdi
	xorl %eax, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movl %eax, %fs
	movl %eax, %gs
	movl $0xc0000101, %ecx
	movq %rdi, %rax
	movq %rdi, %rdx
	shrq $32, %rdx
	wrmsr
	xorl %ebp, %ebp
	movq $ap_main, %rax
	call *%rax
	ud2

	.balign 8
ap_gdt:
	.quad 0
	.quad 0x00cf9a000000ffff /* 32-bit code */
	.quad 0x00cf92000000ffff /* data */
	.quad 0x00af9a000000ffff /* 64-bit code */
ap_gdt_pointer:
	.word . - ap_gdt - 1
	.long 0
ap_far_pointer:
	.long 0
	.word 8
	.balign 8
ap_stack:
	.quad 0
ap_cpu:
	.quad 0
ap_end:

	.section .note.GNU-stack, "", @progbits
