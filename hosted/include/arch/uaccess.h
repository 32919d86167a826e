/*
 * uaccess.h - hosted: an address below USER_TOP of a task that has an address space is translated
 * as its program's (user.h). Any other is plain memory of the test, and faults happen where the
 * test says so: an access that touches [hosted_fault_start, hosted_fault_end) fails there.
 */
#pragma once

#include <string.h>

#include "core/base/types.h"

extern uintptr_t hosted_fault_start, hosted_fault_end;

/* user.c */
bool user_address(const void *address); /* is it in the address space of current? */
size_t user_copy(const void *address, void *data, size_t n, bool write); /* bytes not copied */

static inline bool arch_access_ok(u64 address, u64 size)
{
	return (s64)(address | size | (address + size)) >= 0;
}

/* How many of @n bytes at @address can be touched before the fault. */
static inline size_t hosted_reachable(const void *address, size_t n)
{
	uintptr_t start = (uintptr_t)address;

	if (start >= hosted_fault_end || start + n <= hosted_fault_start)
		return n;
	return start >= hosted_fault_start ? 0 : hosted_fault_start - start;
}

static inline size_t arch_copy_to_user(void *to, const void *from, size_t n)
{
	size_t part = hosted_reachable(to, n);

	if (user_address(to))
		return user_copy(to, (void *)from, n, true);
	memcpy(to, from, part);
	return n - part;
}

static inline size_t arch_copy_from_user(void *to, const void *from, size_t n)
{
	size_t part = hosted_reachable(from, n);

	if (user_address(from))
		return user_copy(from, to, n, false);
	memcpy(to, from, part);
	return n - part;
}

static inline s64 arch_strncpy_from_user(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (arch_copy_from_user(to + i, from + i, 1))
			return -14;
		if (!to[i])
			return (s64)i;
	}
	return (s64)n;
}

#define put_user(x, ptr)                                                                           \
	({                                                                                         \
		__typeof__(*(ptr)) _value = (x);                                                   \
		arch_copy_to_user((void *)(ptr), &_value, sizeof(_value)) ? -14 : 0;               \
	})
#define get_user(x, ptr)                                                                           \
	({                                                                                         \
		__typeof__(x) _value = 0;                                                          \
		size_t _left = arch_copy_from_user(&_value, (const void *)(ptr), sizeof(*(ptr)));  \
		(x) = _value;                                                                      \
		_left ? -14 : 0;                                                                   \
	})
