/*
 * uaccess.h - copying to and from a program's memory, under Linux's names. The machine supplies the
 * primitives (<arch/uaccess.h>). All may sleep: hold no spinlock.
 */
#pragma once

#include <arch/uaccess.h>

#include "core/base/err.h"
#include "core/lock/lockdep.h"

/* Could [pointer, pointer + size) be a program's? No promise that it is mapped. */
#define access_ok(pointer, size) arch_access_ok((u64)(uintptr_t)(pointer), size)

/* Bytes that could not be copied: 0 is success. */
#define copy_to_user(to, from, n) (might_sleep(), arch_copy_to_user(to, from, n))
#define copy_from_user(to, from, n) (might_sleep(), arch_copy_from_user(to, from, n))

/* The same as 0 or -EFAULT: TRY(read_user(&value, pointer, sizeof(value))). */
#define read_user(to, from, n) (copy_from_user(to, from, n) ? -EFAULT : 0)
#define write_user(to, from, n) (copy_to_user(to, from, n) ? -EFAULT : 0)
/* What the program may leave out: nothing is done for a null pointer of its. */
#define read_user_if_given(to, from, n) ((from) ? read_user(to, from, n) : 0)
#define write_user_if_given(to, from, n) ((to) ? write_user(to, from, n) : 0)

/* Length of the string without its NUL; @n when it has none in @n bytes; -EFAULT. Bytes of @to
 * after the NUL, up to @n, are undefined. */
#define strncpy_from_user(to, from, n) (might_sleep(), arch_strncpy_from_user(to, from, n))

/*
 * From <arch/uaccess.h> as they are, 0 or -EFAULT: get_user(x, pointer), x = *pointer, and
 * put_user(x, pointer), *pointer = x, for 1, 2, 4 or 8 bytes. cmpxchg_user(pointer, old, new,
 * &seen): if *pointer, a u32 of the program's, is old make it new, atomically; what it was in seen.
 */
