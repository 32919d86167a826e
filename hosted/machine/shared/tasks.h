/*
 * tasks.h - how hosted tasks begin and end, the same whoever switches them: machine/tasks.c, at places
 * where the kernel sleeps, or hosted/interleave/ring/fibers.c, at each access to memory.
 */
#pragma once

#include "core/base/types.h"

struct task;

/* Make @task root's, in current's directory, with current's files; it is the @number-th, from 0. */
void task_begin(struct task *task, unsigned number, void *kernel_stack);
/* Current is about to end: it gives back what it has, but for its address space (user_leave()). */
void task_end(void);

/* By who switches: @function begins as a task of its own when others let it; a @thread of the kernel's
 * is not waited for. */
struct task *task_launch(void (*function)(void *), void *argument, bool thread);
