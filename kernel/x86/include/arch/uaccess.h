/*
 * uaccess.h - copying to and from a program's memory; kernel/core/uaccess.h gives these their usual
 * names.
 *
 * Every access may fault: a page that can be brought in is, otherwise the exception table
 * (kernel/x86/extable.c) makes the copy end early. With SMAP, user memory is reachable only between
 * stac and clac, which boot patches in over no-ops when the CPU has them. Accesses run upwards from
 * an address in the lower half and so meet the hole below the kernel's half before the kernel: only
 * the ends' signs need a check. May sleep; no spinlock may be held.
 */
#pragma once

#include "kernel/core/types.h"

/* A three-byte no-op whose address goes to a table, for boot to put stac or clac there. */
#define __SMAP_SITE(kind)                                                                          \
	"661: .byte 0x0f, 0x1f, 0x00\n\t"                                                          \
	".pushsection ." kind "_sites, \"a\"\n\t.long 661b - .\n\t.popsection\n\t"
#define __STAC __SMAP_SITE("stac")
#define __CLAC __SMAP_SITE("clac")

/* "If the instruction at label @insn faults, go on at @fixup." */
#define __EXTABLE(insn, fixup)                                                                     \
	".pushsection .extable, \"a\"\n\t.long " insn " - ., " fixup " - .\n\t.popsection\n\t"

static __always_inline bool arch_access_ok(u64 address, u64 size)
{
	return (s64)(address | size | (address + size)) >= 0;
}

/* Bytes not copied. */
size_t arch_copy_user(void *to, const void *from, size_t n);
size_t arch_clear_user_checked(void *to, size_t n);

static __always_inline size_t arch_copy_to_user(void *to, const void *from, size_t n)
{
	return likely(arch_access_ok((u64)(uintptr_t)to, n)) ? arch_copy_user(to, from, n) : n;
}

static __always_inline size_t arch_copy_from_user(void *to, const void *from, size_t n)
{
	return likely(arch_access_ok((u64)(uintptr_t)from, n)) ? arch_copy_user(to, from, n) : n;
}

static __always_inline size_t arch_clear_user(void *to, size_t n)
{
	return likely(arch_access_ok((u64)(uintptr_t)to, n)) ? arch_clear_user_checked(to, n) : n;
}

/*
 * Copy the string at @src, at most @n bytes with its NUL. Its length without the NUL, or @n when
 * there was no NUL in @n bytes, or -EFAULT. What follows the NUL in @dst, up to @n bytes, is
 * undefined.
 */
s64 arch_strncpy_from_user(char *dst, const char *src, size_t n);

#define __put_user_size(suffix, modifier, x, ptr, label)                                           \
	__asm__ __volatile__ goto(__STAC "1: mov" suffix " %" modifier                             \
					 "0, (%1)\n\t" __CLAC __EXTABLE("1b", "%l2")::"r"(x),      \
				  "r"(ptr)                                                         \
				  : "memory"                                                       \
				  : label)

#define __get_user_size(instruction, x, ptr, label)                                                \
	__asm__ __volatile__ goto(__STAC "1: " instruction                                         \
					 " (%1), %k0\n\t" __CLAC __EXTABLE("1b", "%l2")            \
				  : "=r"(x)                                                        \
				  : "r"(ptr)                                                       \
				  : "memory"                                                       \
				  : label)

/* The fault leaves user access open: close it on the way out. */
#define __close_user() __asm__ __volatile__(__CLAC ::: "memory")

/* *ptr = x in user memory; 0 or -EFAULT (14). Sizes 1, 2, 4, 8. */
#define arch_put_user(x, ptr)                                                                      \
	({                                                                                         \
		__label__ fault, out;                                                              \
		__typeof__(*(ptr)) _pu_x = (x);                                                    \
		__typeof__(ptr) _pu_p = (ptr);                                                     \
		int _pu_error = -14;                                                               \
		if (unlikely((s64)(uintptr_t)_pu_p < 0))                                           \
			goto out;                                                                  \
		if (sizeof(*_pu_p) == 8)                                                           \
			__put_user_size("q", "q", _pu_x, _pu_p, fault);                            \
		else if (sizeof(*_pu_p) == 4)                                                      \
			__put_user_size("l", "k", _pu_x, _pu_p, fault);                            \
		else if (sizeof(*_pu_p) == 2)                                                      \
			__put_user_size("w", "w", _pu_x, _pu_p, fault);                            \
		else                                                                               \
			__put_user_size("b", "b", _pu_x, _pu_p, fault);                            \
		_pu_error = 0;                                                                     \
		goto out;                                                                          \
fault:                                                                                             \
		__close_user();                                                                    \
out:                                                                                               \
		_pu_error;                                                                         \
	})

/* x = *ptr from user memory; 0, or -EFAULT with x set to 0. Sizes 1, 2, 4, 8. */
#define arch_get_user(x, ptr)                                                                      \
	({                                                                                         \
		__label__ fault, out;                                                              \
		const __typeof__(*(ptr)) *_gu_p = (ptr);                                           \
		int _gu_error = -14;                                                               \
		u64 _gu_x = 0;                                                                     \
		if (unlikely((s64)(uintptr_t)_gu_p < 0))                                           \
			goto out;                                                                  \
		if (sizeof(*_gu_p) == 8)                                                           \
			__get_user_quad(_gu_x, _gu_p, fault);                                      \
		else if (sizeof(*_gu_p) == 4)                                                      \
			__get_user_size("movl", _gu_x, _gu_p, fault);                              \
		else if (sizeof(*_gu_p) == 2)                                                      \
			__get_user_size("movzwl", _gu_x, _gu_p, fault);                            \
		else                                                                               \
			__get_user_size("movzbl", _gu_x, _gu_p, fault);                            \
		_gu_error = 0;                                                                     \
		goto out;                                                                          \
fault:                                                                                             \
		__close_user();                                                                    \
		_gu_x = 0;                                                                         \
out:                                                                                               \
		(x) = (__typeof__(*(ptr)))_gu_x;                                                   \
		_gu_error;                                                                         \
	})

#define __get_user_quad(x, ptr, label)                                                             \
	__asm__ __volatile__ goto(__STAC "1: movq (%1), %0\n\t" __CLAC __EXTABLE("1b", "%l2")      \
				  : "=r"(x)                                                        \
				  : "r"(ptr)                                                       \
				  : "memory"                                                       \
				  : label)

static __always_inline int arch_cmpxchg_user(u32 *pointer, u32 old, u32 new, u32 *seen)
{
	if (unlikely((s64)(uintptr_t)pointer < 0))
		return -14;
	__asm__ __volatile__ goto(
		__STAC "1: lock cmpxchgl %2, (%1)\n\t" __CLAC __EXTABLE("1b", "%l[fault]")
		: "+a"(old)
		: "r"(pointer), "r"(new)
		: "memory"
		: fault);
	*seen = old;
	return 0;
fault:
	__close_user();
	return -14;
}
