/* sdm.h - scripts of what developers do: their steps as data, a plan drawn from the seed, and its
 * execution. */
#pragma once

#include "workload.h"

enum size { SIZE_SMALL, SIZE_CPU, SIZE_IO };

/*
 * A step: programs with ` | ` between, `< FILE` and `> FILE`, no quotes; `~` is a blank within a
 * word. `input` is what the first program reads. In both a percent sign and a letter stand for what
 * a plan chooses (sdm_plan.c). `status` is what the last program has to end with, the others with
 * 0.
 */
struct step {
	const char *line;
	const char *input;
	int status;
};

enum { TASK_STEPS = 6 };

/* Steps that belong together; in a script the tasks stand in any order. */
struct task {
	const char *name;
	unsigned sizes; /* 1 << SIZE_..., those that do it */
	struct step steps[TASK_STEPS];
};

extern const struct task sdm_first[]; /* at the begin of each script, in this order */
extern const struct task sdm_tasks[]; /* both end with one without a name */

/* A script as it will run. */
struct plan {
	unsigned steps, room;
	struct step *step;
	uint64_t *think_ns; /* before each step */
};

struct plan_options {
	enum size size;
	uint64_t steps;	   /* of a script; 0: each task once */
	uint64_t think_us; /* on the average */
	const char *source;
};

/* The plan of script @number: the same for the same seed, options and source tree. */
struct plan make_plan(const struct plan_options *options, unsigned number);

/*
 * Run the steps in the current folder. True if all ended as they should; otherwise what went wrong
 * is on stderr. Each step done is one of progress.
 */
int run_plan(const struct plan *plan, unsigned number);
