/*
 * syscalls.h - the table through which the machine's entry code calls the system calls.
 */
#pragma once

#include "kernel/core/syscalls.h"

typedef s64 (*syscall_function)(u64, u64, u64, u64, u64, u64);

#define SYSCALL_LIMIT 462 /* one past the highest number that Linux 6.1 and its programs know */

extern const syscall_function syscall_table[SYSCALL_LIMIT];
extern const u32 syscall_count;

/* Name of call @number, or NULL; and its arguments as they stand in syscalls.def. */
const char *syscall_name(unsigned number);
const char *syscall_arguments(unsigned number);

s64 syscall_missing(void);
