/*
 * syscalls.h - the table through which the machine's entry code calls the system calls.
 */
#pragma once

#include "core/syscalls.h"

typedef s64 (*syscall_function)(u64, u64, u64, u64, u64, u64);

#define SYSCALL_LIMIT 462 /* one past the highest number that Linux 6.1 and its programs know */

extern const syscall_function syscall_table[SYSCALL_LIMIT];

/* What the entry code does with numbers from syscall_count on: SYSCALL_LIMIT or, to have all calls
 * traced, 0. */
extern u32 syscall_count;
s64 syscall_other(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);
