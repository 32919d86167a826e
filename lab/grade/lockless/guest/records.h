/*
 * records.h - what interleave.c and lab/grade/lockless/machine.py have in common: what is read and
 * written, and how the machine ends beside by an enum end (watched.h).
 */
#pragma once

#include "tasks.h"

enum end_of_tasks { END_DEADLOCK = 31, END_UNSTEPPED, END_OWN, END_IDLE, END_EXTRA };

enum fault { FAULT_FREED, FAULT_WRITES, FAULT_WAITS, FAULTS };
#define SEEN_SCHEDULE 99 /* a record of this task: what comes is of another run */
#define SEEN_FAULT 100	 /* and up: an enum fault, of the task that is its `operation` */

/* How schedules come about: drawn; in step, all of a few; by what comes in between. */
enum way { WAY_DRAWN, WAY_IN_STEP, WAY_BETWEEN };

struct program {
	uint64_t seed;
	uint32_t schedules, way;
	uint32_t again; /* so often the last two operations that come in between are repeated */
	uint32_t count[3 + TASKS]; /* operations before, after, of each task, and in between */
};

struct seen {
	uint32_t program, run, task, operation;
	uint64_t began, ended, answer;
	uint64_t accesses; /* to what is shared, in a task's operation that waited for nobody */
};
