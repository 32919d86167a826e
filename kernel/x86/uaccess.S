/*
 * uaccess.S - bulk copies to and from user memory: rep movsq for the bulk, which counts an
 * instruction for each eight bytes. A fault in the bulk goes on byte by byte, so that the count is
 * exact.
 */
	.macro smap_site kind
661:	.byte 0x0f, 0x1f, 0x00
	.pushsection .\kind\()_sites, "a"
	.long 661b - .
	.popsection
	.endm

	.macro extable insn, fixup
	.pushsection .extable, "a"
	.long \insn - ., \fixup - .
	.popsection
	.endm

	.text
	.balign 16
	/* size_t arch_copy_user(void *to, const void *from, size_t n): bytes not copied */
	.globl arch_copy_user
arch_copy_user:
	smap_site stac
	movq %rdx, %rcx
	shrq $3, %rcx
1:	rep movsq
	movl %edx, %ecx
	andl $7, %ecx
	jnz 2f
	smap_site clac
	xorl %eax, %eax
	ret
2:	rep movsb
3:	smap_site clac
	movq %rcx, %rax
	ret
4:	andl $7, %edx
	leaq (%rdx, %rcx, 8), %rcx
	jmp 2b
	extable 1b, 4b
	extable 2b, 3b

	.balign 16
	/* size_t arch_clear_user_checked(void *to, size_t n): bytes not cleared */
	.globl arch_clear_user_checked
arch_clear_user_checked:
	smap_site stac
	xorl %eax, %eax
	movq %rsi, %rcx
	shrq $3, %rcx
1:	rep stosq
	movl %esi, %ecx
	andl $7, %ecx
2:	rep stosb
3:	smap_site clac
	movq %rcx, %rax
	ret
4:	andl $7, %esi
	leaq (%rsi, %rcx, 8), %rcx
	jmp 2b
	extable 1b, 4b
	extable 2b, 3b

	.section .note.GNU-stack, "", @progbits
