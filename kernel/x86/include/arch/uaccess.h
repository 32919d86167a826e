/*
 * uaccess.h - copying to and from a program's memory; kernel/core/uaccess.h gives these their usual
 * names.
 *
 * Every access may fault: a page that can be brought in is, otherwise the copy ends early
 * (kernel/x86/uaccess.S). Accesses run upwards from an address in the lower half and so meet the
 * hole below the kernel's half before the kernel: only the ends' signs need a check. May sleep; no
 * spinlock may be held.
 */
#pragma once

#include "kernel/core/types.h"

static __always_inline bool arch_access_ok(u64 address, u64 size)
{
	return (s64)(address | size | (address + size)) >= 0;
}

/* Bytes not copied. */
size_t arch_copy_user(void *to, const void *from, size_t n);
size_t arch_clear_user_checked(void *to, size_t n);

static __always_inline __must_check size_t arch_copy_to_user(void *to, const void *from, size_t n)
{
	return likely(arch_access_ok((u64)(uintptr_t)to, n)) ? arch_copy_user(to, from, n) : n;
}

static __always_inline __must_check size_t arch_copy_from_user(void *to, const void *from, size_t n)
{
	return likely(arch_access_ok((u64)(uintptr_t)from, n)) ? arch_copy_user(to, from, n) : n;
}

static __always_inline __must_check size_t arch_clear_user(void *to, size_t n)
{
	return likely(arch_access_ok((u64)(uintptr_t)to, n)) ? arch_clear_user_checked(to, n) : n;
}

/*
 * Copy the string at @from, at most @n bytes with its NUL. Its length without the NUL, or @n when
 * there was no NUL in @n bytes, or -EFAULT. What follows the NUL in @to, up to @n bytes, is
 * undefined.
 */
s64 arch_strncpy_from_user(char *to, const char *from, size_t n);

int arch_cmpxchg_user(u32 *pointer, u32 old, u32 new, u32 *seen);

/* As in kernel/x86/uaccess.S: an instruction that may fault on a program's address. */
#define __SMAP_SITE(last_byte)                                                                     \
	"661: .byte 0x0f, 0x1f, 0x00\n\t"                                                          \
	".pushsection .smap_sites, \"a\"\n\t.quad 661b, " last_byte "\n\t.popsection\n\t"
#define __STAC __SMAP_SITE("0xcb")
#define __CLAC __SMAP_SITE("0xca")
#define __USER_ACCESS(instruction, fixup)                                                          \
	__STAC "662: " instruction "\n\t" __CLAC                                                   \
	".pushsection .extable, \"a\"\n\t.quad 662b, " fixup "\n\t.popsection\n\t"

static __always_inline int __put_user(u64 value, void *pointer, size_t size)
{
	if (unlikely((s64)(uintptr_t)pointer < 0))
		return -14;
	__asm__ __volatile__ goto(__USER_ACCESS(".if %c2 == 8; movq %0, (%1); "
						".elseif %c2 == 4; movl %k0, (%1); "
						".elseif %c2 == 2; movw %w0, (%1); "
						".else; movb %b0, (%1); .endif",
						"%l3")::"r"(value),
				  "r"(pointer), "i"(size)
				  : "memory"
				  : fault);
	return 0;
fault: /* with access open */
	__asm__ __volatile__(__CLAC ::: "memory");
	return -14;
}

static __always_inline int __get_user(u64 *value, const void *pointer, size_t size)
{
	*value = 0;
	if (unlikely((s64)(uintptr_t)pointer < 0))
		return -14;
	__asm__ __volatile__ goto(__USER_ACCESS(".if %c2 == 8; movq (%1), %0; "
						".elseif %c2 == 4; movl (%1), %k0; "
						".elseif %c2 == 2; movzwl (%1), %k0; "
						".else; movzbl (%1), %k0; .endif",
						"%l3")
				  : "=r"(*value)
				  : "r"(pointer), "i"(size)
				  : "memory"
				  : fault);
	return 0;
fault: /* with access open */
	__asm__ __volatile__(__CLAC ::: "memory");
	*value = 0;
	return -14;
}

/* *pointer = x in user memory; 0 or -EFAULT (14). Sizes 1, 2, 4, 8, at once. */
#define arch_put_user(x, pointer)                                                                  \
	({                                                                                         \
		__typeof__(*(pointer)) _put_value = (x);                                           \
		__put_user((u64)_put_value, pointer, sizeof(_put_value));                          \
	})

/* x = *pointer from user memory; 0, or -EFAULT with x set to 0. Sizes 1, 2, 4, 8, at once. */
#define arch_get_user(x, pointer)                                                                  \
	({                                                                                         \
		u64 _get_value;                                                                    \
		int _get_error = __get_user(&_get_value, pointer, sizeof(*(pointer)));             \
		(x) = (__typeof__(*(pointer)))_get_value;                                          \
		_get_error;                                                                        \
	})
