/*
 * syscalls.h - prototypes of all system calls, and the table through which the machine's entry code
 * calls them.
 *
 * Each sys_NAME() returns its result or a negative errno. They run in the calling task, interrupts
 * enabled, and may sleep; pointers are the program's and unchecked.
 */
#pragma once

#include "kernel/core/types.h"

#define SYSCALL(number, name, ...) s64 sys_##name(__VA_ARGS__);
#include "kernel/sys/syscalls.def"
#undef SYSCALL

typedef s64 (*syscall_function)(u64, u64, u64, u64, u64, u64);

#define SYSCALL_LIMIT 462 /* one past the highest number that Linux 6.1 and its programs know */

extern const syscall_function syscall_table[SYSCALL_LIMIT];
extern const u32 syscall_count;

/* Name of call @number, or NULL; and its arguments as they stand in syscalls.def. */
const char *syscall_name(unsigned number);
const char *syscall_arguments(unsigned number);

s64 syscall_missing(void);
