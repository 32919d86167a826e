/*
 * uaccess.h - copying to and from a program's memory; core/base/uaccess.h gives these their usual
 * names.
 *
 * Every access may fault: a page that can be brought in is, otherwise the copy ends early
 * (arch/x86/entry/uaccess.S). Accesses run upwards from an address in the lower half and so meet
 * the hole below the kernel's half before the kernel: only the ends' signs need a check. May sleep;
 * no spinlock may be held.
 */
#pragma once

#include "core/base/types.h"

static __always_inline bool arch_access_ok(u64 address, u64 size)
{
	return (s64)(address | size | (address + size)) >= 0;
}

/* Bytes not copied. */
size_t arch_copy_user(void *to, const void *from, size_t n);

static __always_inline __must_check size_t arch_copy_to_user(void *to, const void *from, size_t n)
{
	return likely(arch_access_ok((u64)(uintptr_t)to, n)) ? arch_copy_user(to, from, n) : n;
}

static __always_inline __must_check size_t arch_copy_from_user(void *to, const void *from, size_t n)
{
	return likely(arch_access_ok((u64)(uintptr_t)from, n)) ? arch_copy_user(to, from, n) : n;
}

/*
 * Copy the string at @from, at most @n bytes with its NUL. Its length without the NUL, or @n when
 * there was no NUL in @n bytes, or -EFAULT. What follows the NUL in @to, up to @n bytes, is
 * undefined.
 */
s64 arch_strncpy_from_user(char *to, const char *from, size_t n);

int cmpxchg_user(u32 *pointer, u32 old, u32 new, u32 *seen);

/* As in arch/x86/entry/uaccess.S: an instruction that may fault on a program's address. */
#define __SMAP_SITE(instruction)                                                                   \
	"661: " instruction "\n\t.pushsection .smap_sites, \"a\"\n\t.quad 661b\n\t.popsection\n\t"
#define __USER_ACCESS(instruction, fixup)                                                          \
	__SMAP_SITE("stac")                                                                        \
	"662: " instruction "\n\t" __SMAP_SITE("clac")                                             \
		".pushsection .extable, \"a\"\n\t.quad 662b, " fixup "\n\t.popsection\n\t"

/* *pointer = x in user memory; 0 or -EFAULT (14). Sizes 1, 2, 4, 8, at once. */
#define __access_user(pointer, instruction, output, ...)                                           \
	({                                                                                         \
		__label__ fault;                                                                   \
		int _error = -14; /* -EFAULT */                                                    \
                                                                                                   \
		if (likely((s64)(uintptr_t)(pointer) >= 0)) {                                      \
			__asm__ __volatile__ goto(__USER_ACCESS(instruction, "%l2")                \
						  : output                                         \
						  : __VA_ARGS__                                    \
						  : "memory"                                       \
						  : fault);                                        \
			_error = 0;                                                                \
		}                                                                                  \
	fault:                                                                                     \
		_error;                                                                            \
	})
#define put_user(x, pointer)                                                                       \
	({                                                                                         \
		__typeof__(&*(pointer)) _pointer = (pointer);                                      \
		__typeof__(*(pointer)) _value = (x);                                               \
                                                                                                   \
		__access_user(_pointer, "mov %0, %1", , "r"(_value), "m"(*_pointer));              \
	})
#define get_user(x, pointer)                                                                       \
	({                                                                                         \
		__typeof__(&*(pointer)) _pointer = (pointer);                                      \
		__typeof__((__typeof__(*(pointer)))0) _value;                                      \
		int _failed = __access_user(_pointer, "mov %1, %0", "=r"(_value), "m"(*_pointer)); \
                                                                                                   \
		(x) = _failed ? 0 : _value;                                                        \
		_failed;                                                                           \
	})
