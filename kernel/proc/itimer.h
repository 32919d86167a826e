/*
 * itimer.h - the interval timers of a process: ITIMER_REAL by a kernel timer, ITIMER_VIRTUAL and
 * ITIMER_PROF by ticks. kernel/proc/time.c
 */
#pragma once

#include "kernel/core/kernel.h"

struct process;

void itimer_init(struct process *process);
void itimer_cancel(struct process *process); /* the process ends; process_lock not held */

/* SIGALRM left the pending set; process_lock held */
void itimer_alarm_taken(struct process *process);
