/*
 * itimer.h - setitimer(2), alarm(2): ITIMER_REAL by a kernel timer, ITIMER_VIRTUAL and ITIMER_PROF
 * by ticks.
 */
#pragma once

#include "kernel/core/types.h"

#define ITIMER_REAL 0
#define ITIMER_VIRTUAL 1
#define ITIMER_PROF 2

struct process;

void itimer_init(struct process *process);
void itimer_cancel(struct process *process); /* the process ends; process_lock not held */

/* SIGALRM left the pending set; process_lock held */
void itimer_alarm_taken(struct process *process);

/* Read, and set, timer @which of current's process; times in ns, 0: off. 0 or -EINVAL. */
int itimer_get(int which, u64 *left, u64 *interval);
int itimer_set(int which, u64 value, u64 interval);
