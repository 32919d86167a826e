/*
 * syscalls.h - prototypes of all system calls, for the rooms that define them.
 *
 * A call is defined where its work is done: those on files in fs/, those on memory and processes
 * in kernel/sys. Each sys_NAME() returns its result or a negative errno. It runs in the calling
 * task, interrupts enabled, and may sleep; pointers are the program's and unchecked.
 */
#pragma once

#include "kernel/core/types.h"

#define SYSCALL(number, name, ...) s64 sys_##name(__VA_ARGS__);
#include "kernel/sys/syscalls.def"
#undef SYSCALL
