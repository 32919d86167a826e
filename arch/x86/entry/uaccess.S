/*
 * uaccess.S - accesses to a program's memory: the only instructions of the kernel that may fault on
 * a program's address are these and those of put_user() and get_user() (arch/uaccess.h). A fault
 * that cannot be mended goes on at the place that the access names, with user memory closed.
 *
 * With SMAP, user memory is reachable only between stac and clac, which boot puts over no-ops when
 * the CPU has them. Bulk copies use rep movsq, which counts an instruction for each eight bytes; a
 * fault in the bulk goes on byte by byte, so that the count is exact.
 */
#include "arch/x86/entry/offsets.h"

	/* An instruction that may fault, and where to go on: a pair in extable. */
	.macro access fixup, instruction:vararg
661:	\instruction
	.pushsection .extable.bulk, "a"
	.quad 661b, \fixup
	.popsection
	.endm

	.text
user_fault:
	movq $-14, %rax
	ret

	/* int cmpxchg_user(u32 *pointer, u32 old, u32 new, u32 *seen) */
	.balign 16
	.globl cmpxchg_user
cmpxchg_user:
	testq %rdi, %rdi
	js user_fault
	movl %esi, %eax
	smap_site stac
	access user_fault, lock cmpxchgl %edx, (%rdi)
	smap_site clac
	movl %eax, (%rcx)
	xorl %eax, %eax
	ret

	/* size_t arch_copy_user(void *to, const void *from, size_t n): bytes not copied */
	.balign 16
	.globl arch_copy_user
arch_copy_user:
	smap_site stac
	movq %rdx, %rcx
	shrq $3, %rcx
	access 3f, rep movsq
	movl %edx, %ecx
	andl $7, %ecx
	jnz 1f
	smap_site clac
	xorl %eax, %eax
	ret
1:	access 2f, rep movsb
2:	smap_site clac
	movq %rcx, %rax
	ret
3:	smap_site stac
	andl $7, %edx
	leaq (%rdx, %rcx, 8), %rcx
	jmp 1b

	/* s64 arch_strncpy_from_user(char *to, const char *from, size_t n): a word at a time; where
	 * a word would cross into a page that is not there, byte by byte. A word has a zero byte if
	 * (word - 0x01..01) & ~word & 0x80..80. */
	.balign 16
	.globl arch_strncpy_from_user
arch_strncpy_from_user:
	testq %rsi, %rsi
	js user_fault
	movabsq $-0x0101010101010101, %r8
	movabsq $0x8080808080808080, %r9
	xorl %eax, %eax
	leaq -8(%rdx), %r10	/* the last place where a word has room */
	smap_site stac
	testq %r10, %r10
	js 3f
1:	access 5f, movq (%rsi, %rax), %rcx
	movq %rcx, (%rdi, %rax)
	leaq (%rcx, %r8), %r11
	notq %rcx
	andq %rcx, %r11
	andq %r9, %r11
	jnz 2f
	addq $8, %rax
	cmpq %r10, %rax
	jbe 1b
	jmp 3f
2:	bsfq %r11, %r11
	shrl $3, %r11d
	addq %r11, %rax
	smap_site clac
	ret
5:	smap_site stac
3:	cmpq %rdx, %rax
	jae 4f
	access user_fault, movzbl (%rsi, %rax), %ecx
	movb %cl, (%rdi, %rax)
	testb %cl, %cl
	jz 4f
	incq %rax
	jmp 3b
4:	smap_site clac
	ret

	.section .note.GNU-stack, "", @progbits
