/*
 * main.c - hashbench: the tests of Seltzer and Yigit 1991, and YCSB's mixes, on any hash system.
 *
 * Systems and runs are taken in turn: run 1 of every system, run 2 of every system, so that a
 * change of the machine's mood is everybody's. Each run of a system is a process of its own, which
 * does all the tests one after the other and prints each; what they came to also lies in memory
 * that is shared with the one that waits, and prints the medians behind the last run.
 *
 * Output: lines of JSON, for each run and then for each median (report.c). Status: 0, 1 if a test
 * failed, lost a record or found a wrong one, 2 for a command line that makes no sense.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

/* Several threads are told to a system that wants to know. */
static struct variant for_threads(const struct variant *variant, unsigned threads)
{
	struct variant changed = *variant;

	if (threads > 1)
		variant_set(&changed, "threads=1");
	return changed;
}

/* On a terminal: what is being done. */
static void tell(const struct plan *plan, const struct variant *variant, const struct step *step)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "hashbench: run %u of %u: %s: %s\n", plan->run, plan->runs,
			variant->label, step->test);
}

/*
 * All tests of one system, in this process, which prints each as it ends. @results: of each step,
 * shared; a result is stored when it is whole.
 */
static void run_system(struct plan *plan, const struct variant *variant, const struct step *steps,
		       size_t count, struct result *results)
{
	for (size_t i = 0; i < count; i++) {
		const struct variant fitted = for_threads(variant, steps[i].threads);
		struct result result = {.threads = steps[i].threads};

		tell(plan, variant, &steps[i]);
		plan->threads = steps[i].threads;
		if (test_possible(plan, variant, steps[i].test, result.skipped))
			test_run(plan, &fitted, steps[i].test, &result);
		else
			snprintf(result.test, sizeof(result.test), "%s", steps[i].test);
		results[i] = result;
		report_result(plan, variant, plan->run, &result);
		fflush(stdout);
	}
	remove_files(plan);
}

/* The process ends with the one that waits for it. What it did not come to is an error. */
static void in_a_process(struct plan *plan, const struct variant *variant, const struct step *steps,
			 size_t count, struct result *results)
{
	const pid_t parent = getpid();
	int status = 0;
	pid_t child;

	for (size_t i = 0; i < count; i++) {
		memset(&results[i], 0, sizeof(results[i]));
		snprintf(results[i].test, sizeof(results[i].test), "%s", steps[i].test);
		results[i].threads = steps[i].threads;
		results[i].error = -ECHILD;
	}
	child = fork();
	if (child < 0)
		refuse("fork", strerror(errno));
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			run_system(plan, variant, steps, count, results);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		fprintf(stderr, "hashbench: %s: ended by signal %d\n", variant->label,
			WTERMSIG(status));
	for (size_t i = 0; i < count; i++)
		if (results[i].error == -ECHILD)
			report_result(plan, variant, plan->run, &results[i]);
	fflush(stdout);
}

/* How many records may be missing: those that the table's creation has refused. */
static bool went_well(const struct result *results, size_t count)
{
	uint64_t refused = 0;

	for (size_t i = 0; i < count; i++) {
		if (results[i].refused > refused)
			refused = results[i].refused;
		if (results[i].error || results[i].wrong)
			return false;
		if (results[i].test[1] && results[i].missing > refused)
			return false;
	}
	return true;
}

/* The medians of one system's tests; @results: all of it, a run behind the other. */
static void print_medians(const struct plan *plan, const struct variant *variant, size_t steps,
			  unsigned runs, const struct result *results, size_t between_runs)
{
	struct result *of_test = calloc(runs, sizeof(*of_test));

	if (!of_test)
		refuse("medians", "no memory");
	for (size_t step = 0; step < steps; step++) {
		unsigned count = 0;

		for (unsigned run = 0; run < runs; run++) {
			const struct result *result = &results[run * between_runs + step];

			if (!result->skipped[0] && !result->error)
				of_test[count++] = *result;
		}
		report_median(plan, variant, of_test, count);
	}
	free(of_test);
}

/* Memory that all processes share. */
static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		refuse("shared memory", strerror(errno));
	return memory;
}

static int run_all(struct plan *plan, const struct variant *variants, size_t systems,
		   const struct step *steps, size_t count, unsigned runs)
{
	const size_t a_run = systems * count;
	struct result *results = shared(runs * a_run * sizeof(*results));
	int status = 0;

	plan->runs = runs;
	for (unsigned run = 0; run < runs; run++) {
		for (size_t i = 0; i < systems; i++) {
			struct result *own = &results[run * a_run + i * count];

			plan->run = run + 1;
			in_a_process(plan, &variants[i], steps, count, own);
			if (!went_well(own, count))
				status = 1;
		}
	}
	for (size_t i = 0; i < systems; i++)
		print_medians(plan, &variants[i], count, runs, &results[i * count], a_run);
	return status;
}

/* Records that the mixes insert into one table: all of them, or the one that inserts most. */
static uint64_t inserts_of(const struct plan *plan, const struct step *steps, size_t count)
{
	uint64_t most = 0, all = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t own = 0;

		if (!steps[i].test[1])
			own = ycsb_inserts(plan, steps[i].test[0]);
		all += own;
		most = own > most ? own : most;
	}
	return plan->loaded ? all : most;
}

static void read_data(const struct command *command, const struct plan *plan, struct dataset *set,
		      uint64_t inserts)
{
	if (command->words)
		data_read_words(set, command->words);
	else if (command->passwd)
		data_read_passwd(set, command->passwd);
	else
		data_make(set, command->records, inserts, plan->seed);
	if (command->name)
		snprintf(set->name, sizeof(set->name), "%s", command->name);
}

int main(int count, char **words)
{
	static struct variant variants[VARIANTS];
	struct step steps[STEPS];
	struct dataset set;
	struct plan plan = {
		.set = &set, .folder = ".", .operations = 100000, .zipf = 0.99, .seed = 1991};
	struct command command = {.nelem = "known",
				  .tests = "create,read,verify,keys,pairs,memory",
				  .threads = "1",
				  .runs = 9};
	size_t step_count, systems;

	command_read(count, words, &command, &plan);
	step_count = command_steps(&command, steps);
	read_data(&command, &plan, &set, inserts_of(&plan, steps, step_count));
	plan.parts = shared(sizeof(*plan.parts));
	/* Of a table with mixes what they insert is to be expected, too. */
	systems = command_variants(&command, variants, set.room);
	return run_all(&plan, variants, systems, steps, step_count, (unsigned)command.runs);
}
