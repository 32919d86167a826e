/*
 * uaccess.h - native: a program's memory is the process's own, where nothing faults. Copies are the
 * machine's instructions (arch/x86/entry/uaccess.S) without stac and clac, which are no program's.
 */
#pragma once

#include "core/base/types.h"

static __always_inline bool arch_access_ok(u64 address, u64 size)
{
	return (s64)(address | size | (address + size)) >= 0;
}

static __always_inline size_t arch_copy_user(void *to, const void *from, size_t n)
{
#ifdef __SANITIZE_THREAD__ /* which does not look into assembly */
	__builtin_memcpy(to, from, n);
#else
	size_t words = n >> 3, rest = n & 7;

	__asm__ __volatile__("rep movsq" : "+D"(to), "+S"(from), "+c"(words)::"memory");
	if (rest)
		__asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(rest)::"memory");
#endif
	return 0;
}

static __always_inline size_t arch_copy_to_user(void *to, const void *from, size_t n)
{
	return likely(arch_access_ok((u64)(uintptr_t)to, n)) ? arch_copy_user(to, from, n) : n;
}

static __always_inline size_t arch_copy_from_user(void *to, const void *from, size_t n)
{
	return likely(arch_access_ok((u64)(uintptr_t)from, n)) ? arch_copy_user(to, from, n) : n;
}

/* A word at a time, as the machine does it: a string has 7 readable bytes behind its NUL. */
static inline s64 arch_strncpy_from_user(char *to, const char *from, size_t n)
{
	const u64 ones = 0x0101010101010101ULL, tops = 0x8080808080808080ULL;
	size_t at = 0;

	for (; at + sizeof(u64) <= n; at += sizeof(u64)) {
		u64 word, zeros;

		__builtin_memcpy(&word, from + at, sizeof(word));
		__builtin_memcpy(to + at, &word, sizeof(word));
		zeros = (word - ones) & ~word & tops;
		if (zeros)
			return (s64)(at + (unsigned)__builtin_ctzll(zeros) / 8);
	}
	for (; at < n; at++) {
		to[at] = from[at];
		if (!to[at])
			break;
	}
	return (s64)at;
}

#define put_user(x, pointer)                                                                       \
	({                                                                                         \
		__typeof__(pointer) _pointer = (pointer);                                          \
		bool _reachable = arch_access_ok((u64)(uintptr_t)_pointer, sizeof(*_pointer));     \
                                                                                                   \
		if (_reachable)                                                                    \
			*_pointer = (x);                                                           \
		_reachable ? 0 : -14;                                                              \
	})
#define get_user(x, pointer)                                                                       \
	({                                                                                         \
		__typeof__(pointer) _pointer = (pointer);                                          \
		bool _reachable = arch_access_ok((u64)(uintptr_t)_pointer, sizeof(*_pointer));     \
                                                                                                   \
		(x) = _reachable ? *_pointer : 0;                                                  \
		_reachable ? 0 : -14;                                                              \
	})
