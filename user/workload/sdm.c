/*
 * sdm and sdet - concurrent scripts of what developers do, after SPEC SDM (Lever 1999, section 2)
 * and the table of SDET's results in Santos 2004.
 *
 * Each script has a folder of its own and does its steps one after the other, as a shell would,
 * with a moment of thought before each; all begin at once, and the time until the last has ended is
 * what counts.
 */
#define _GNU_SOURCE
#include "sdm.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SCRIPTS = 128 };

static struct list scripts = {1, {16}};
static struct list threads = {8, {1, 2, 4, 8, 16, 32, 64, 128}};
static int size = SIZE_SMALL;
static uint64_t steps, think_us = 2000, repeat = 1, warm_up;
static const char *source = "/usr/src/lua";

/* clang-format off */
#define SCRIPT_OPTIONS \
	{"size", OPTION_CHOICE, "small|cpu|io", "small: 8 small C files a script; cpu: all of the source; io: five copies of it", &size, 0, 0}, \
	{"steps", OPTION_NUMBER, "N", "steps of a script, its tasks over and over; each task once without it", &steps, 1, 100000}, \
	{"think", OPTION_NUMBER, "MICROSECONDS", "thought before a step, on the average; 2000 without it", &think_us, 0, 10000000}, \
	{"source", OPTION_TEXT, "DIRECTORY", "the tree to work on, Lua's; /usr/src/lua without it", &source, 0, 0}, \
	{.name = NULL}

static const struct option_row sdm_options[] = {
	{"scripts", OPTION_LIST, "N,...", "scripts at once, up to 128; a result for each number; 16 without it", &scripts, 1, MOST_SCRIPTS},
	{"repeat", OPTION_NUMBER, "N", "runs of each number, with the same scripts; a result for each; 1 without it", &repeat, 1, 1000},
	{"warm-up", OPTION_NUMBER, "N", "scripts at once before all that is measured; none without it", &warm_up, 0, MOST_SCRIPTS},
	SCRIPT_OPTIONS,
};

static const struct option_row sdet_options[] = {
	{"threads", OPTION_LIST, "N,...", "scripts at once, up to 128; a result for each number; 1,2,4..128 without it", &threads, 1, MOST_SCRIPTS},
	SCRIPT_OPTIONS,
};

/* clang-format on */

/* What one number of scripts came to. */
struct outcome {
	uint64_t elapsed_ns, steps, digest;
};

/* The child of one script: it begins when the pipe's other end is closed. */
static void script(const struct plan *plan, unsigned number, const int *gate)
{
	char *folder = join("script%u", number), byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(gate[1]);
	if (chdir(folder))
		fail_errno("%s", folder);
	if (read(gate[0], &byte, 1))
		fail("a script began too early");
	close(gate[0]);
	_exit(run_plan(plan, number) ? 0 : STATUS_FAILED);
}

static void wait_for_scripts(unsigned count)
{
	while (count--) {
		int status;

		if (wait(&status) < 0)
			fail_errno("wait");
		if (!WIFEXITED(status))
			fail("a script was ended by signal %d", WTERMSIG(status));
		if (WEXITSTATUS(status))
			exit(STATUS_FAILED); /* what went wrong was told by the script */
	}
}

static void digest_plan(uint64_t *digest, const struct plan *plan)
{
	for (unsigned i = 0; i < plan->steps; i++) {
		digest_add(digest, plan->step[i].line);
		digest_add(digest, plan->step[i].input ? plan->step[i].input : "");
		digest_add_number(digest, plan->think_ns[i]);
	}
}

enum measured { NOT_MEASURED, MEASURED };

/* @count scripts at once, in a new folder: the same ones each time. */
static struct outcome run_scripts(unsigned count, enum measured measured)
{
	struct plan_options options = {(enum size)size, steps, think_us, source};
	struct outcome outcome = {.digest = DIGEST_START};
	struct plan *plans = allocate(count * sizeof(*plans));
	char *what = join("scripts-%u", count);
	int gate[2];

	for (unsigned i = 0; i < count; i++) {
		plans[i] = make_plan(&options, i);
		outcome.steps += plans[i].steps;
		digest_plan(&outcome.digest, &plans[i]);
	}
	progress_start(what, outcome.steps);
	make_folder(what);
	if (chdir(what) || pipe(gate))
		fail_errno("%s", what);
	for (unsigned i = 0; i < count; i++) {
		char *folder = join("script%u", i);

		make_folder(folder);
		free(folder);
		if (fork_child() == 0)
			script(&plans[i], i, gate);
	}
	close(gate[0]);
	if (measured == MEASURED)
		measured_start();
	outcome.elapsed_ns = now_ns();
	close(gate[1]);
	wait_for_scripts(count);
	outcome.elapsed_ns = now_ns() - outcome.elapsed_ns;
	if (measured == MEASURED)
		measured_stop();
	if (progress_count() != outcome.steps)
		fail("%llu of %llu steps were done", (unsigned long long)progress_count(),
		     (unsigned long long)outcome.steps);
	if (chdir(".."))
		fail_errno("%s/..", what);
	free(what);
	free(plans);
	return outcome;
}

/* "16 scripts", "1 script" */
static char *case_name(uint64_t count, const char *one)
{
	return join("%llu %s%s", (unsigned long long)count, one, count == 1 ? "" : "s");
}

/* The files of a run of @count scripts go before the next one, so that there is room for one at
 * least. */
static void remove_scripts(unsigned count)
{
	char *folder = join("scripts-%u", count);

	if (!remove_tree(folder))
		fail_errno("%s cannot be removed", folder);
	free(folder);
}

static void print_sdm(unsigned count, unsigned run, const struct outcome *outcome)
{
	char *name = case_name(count, "script");

	result_begin(name, outcome->elapsed_ns);
	result_number("scripts", count);
	if (repeat > 1)
		result_number("run", run + 1);
	result_number("steps", outcome->steps);
	result_real("scripts_per_hour", 3600 * per_second(count, outcome->elapsed_ns));
	result_end(outcome->digest);
	free(name);
}

/* The environment of the programs: no language, temporary files where the script is. */
static void set_environment(void)
{
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", 0);
	setenv("LC_ALL", "C", 1);
	setenv("TMPDIR", ".", 1);
	unsetenv("MAKEFLAGS");
}

static void run_sdm(void)
{
	unsigned last = 0;

	set_environment();
	if (warm_up) {
		last = (unsigned)warm_up;
		run_scripts(last, NOT_MEASURED);
	}
	for (unsigned i = 0; i < scripts.count; i++) {
		for (unsigned run = 0; run < repeat; run++) {
			struct outcome outcome;

			if (last)
				remove_scripts(last);
			last = (unsigned)scripts.values[i];
			outcome = run_scripts(last, MEASURED);
			print_sdm(last, run, &outcome);
		}
	}
}

static void run_sdet(void)
{
	set_environment();
	for (unsigned i = 0; i < threads.count; i++) {
		struct outcome outcome;
		char *name = case_name(threads.values[i], "thread");

		if (i)
			remove_scripts((unsigned)threads.values[i - 1]);
		outcome = run_scripts((unsigned)threads.values[i], MEASURED);
		result_begin(name, outcome.elapsed_ns);
		result_number("threads", threads.values[i]);
		result_number("operations", outcome.steps);
		result_real("ops_per_second", per_second(outcome.steps, outcome.elapsed_ns));
		result_end(outcome.digest);
		free(name);
	}
}

static void check(void)
{
	char *path = join("%s/src/Makefile", source);

	if (access(path, R_OK))
		usage("there is no %s: boot with ./cw run --image sdm, or give Lua's source with --source",
		      path);
	free(path);
}

const struct load sdm_load = {
	"sdm",
	"concurrent scripts of software development by real programs, after SPEC SDM: scripts an hour",
	sdm_options,
	check,
	run_sdm,
};

const struct load sdet_load = {
	"sdet",
	"the same scripts as a curve over their number, after SDET: operations a second",
	sdet_options,
	check,
	run_sdet,
};
