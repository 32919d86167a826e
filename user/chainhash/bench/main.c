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

#include "bench.h"

enum { VARIANTS = 64, STEPS = 64, THREADS_MOST = 64, RUNS_MOST = 999 };

static const char usage[] =
	"Usage: hashbench DATA [OPTION...]\n"
	"\n"
	"DATA is one of\n"
	"  --words FILE          words, a line each (makedata.py writes a dictionary)\n"
	"  --passwd FILE         accounts, two records each\n"
	"  --records N           records of 16 and 100 bytes\n"
	"\n"
	"  --system NAME[:OPTION=VALUE,...]  one more system to run (without any: all)\n"
	"  --set OPTION=VALUE,...  of every system that has the option: bucket, fill, cache ...\n"
	"  --nelem known|unknown|N  how many elements systems are told to expect (known)\n"
	"  --tests NAME,...      create read verify keys pairs both memory, a to f (the first five\n"
	"                        and memory)\n"
	"  --runs N              of each, in turn (9)\n"
	"  --folder PATH         for the files (.)\n"
	"  --cold                drop the kernel's caches before tests that open a file (as root)\n"
	"  --operations N        of a mix (100000)\n"
	"  --threads N,...       of a mix (1)\n"
	"  --zipf S              the exponent of a mix (0.99)\n"
	"  --seed N              of records and mixes (1991)\n"
	"  --list                the systems, their options, and the adapters that are not built\n";

struct step {
	const char *test;
	unsigned threads;
};

struct command {
	const char *words, *passwd, *common, *nelem, *tests, *threads;
	uint64_t records, runs;
	const char *systems[VARIANTS];
	size_t system_count;
};

static void refuse(const char *what, const char *why)
{
	fprintf(stderr, "hashbench: %s: %s\n", what, why);
	exit(2);
}

static uint64_t number(const char *name, const char *text, uint64_t least, uint64_t most)
{
	char *end, why[80];
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < least || value > most) {
		snprintf(why, sizeof(why), "a number from %llu to %llu, not '%.20s'",
			 (unsigned long long)least, (unsigned long long)most, text);
		refuse(name, why);
	}
	return value;
}

static void list_systems(void)
{
	for (size_t i = 0; every_system[i]; i++) {
		const struct option_rule *rule = every_system[i]->options;

		printf("%-14s %s\n", every_system[i]->name, every_system[i]->summary);
		for (; rule && rule->name; rule++) {
			printf("    %-12s %s (", rule->name, rule->meaning);
			for (size_t j = 0; rule->words && rule->words[j]; j++)
				printf("%s%s", j ? "|" : "", rule->words[j]);
			if (!rule->words)
				printf("%llu to %llu; %llu", (unsigned long long)rule->least,
				       (unsigned long long)rule->most,
				       (unsigned long long)rule->usual);
			printf(")\n");
		}
	}
	for (size_t i = 0; absent_systems[i]; i++)
		printf("absent: %s\n", absent_systems[i]);
}

static void read_data_option(struct command *command, struct plan *plan, const char *name,
			     const char *value)
{
	if (!strcmp(name, "--words"))
		command->words = value;
	else if (!strcmp(name, "--passwd"))
		command->passwd = value;
	else if (!strcmp(name, "--records"))
		command->records = number(name, value, 1, 1000000000);
	else if (!strcmp(name, "--seed"))
		plan->seed = number(name, value, 0, UINT64_MAX);
	else if (!strcmp(name, "--operations"))
		plan->operations = number(name, value, 1, 1000000000);
	else
		refuse(name, "no such option (--help)");
}

static void read_option(struct command *command, struct plan *plan, const char *name,
			const char *value)
{
	char *end;

	if (!value)
		refuse(name, "the value is missing");
	if (!strcmp(name, "--system")) {
		if (command->system_count == VARIANTS)
			refuse(name, "at most 64");
		command->systems[command->system_count++] = value;
	} else if (!strcmp(name, "--set")) {
		command->common = value;
	} else if (!strcmp(name, "--nelem")) {
		command->nelem = value;
	} else if (!strcmp(name, "--tests")) {
		command->tests = value;
	} else if (!strcmp(name, "--threads")) {
		command->threads = value;
	} else if (!strcmp(name, "--folder")) {
		plan->folder = value;
	} else if (!strcmp(name, "--runs")) {
		command->runs = number(name, value, 1, RUNS_MOST);
	} else if (!strcmp(name, "--zipf")) {
		plan->zipf = strtod(value, &end);
		if (*end || !(plan->zipf > 0 && plan->zipf < 10) || plan->zipf == 1)
			refuse(name, "a number above 0 and below 10, but not 1");
	} else {
		read_data_option(command, plan, name, value);
	}
}

static void read_command(int count, char **words, struct command *command, struct plan *plan)
{
	for (int i = 1; i < count; i++) {
		if (!strcmp(words[i], "--help")) {
			fputs(usage, stdout);
			exit(0);
		}
		if (!strcmp(words[i], "--list")) {
			list_systems();
			exit(0);
		}
		if (!strcmp(words[i], "--cold")) {
			plan->cold = true;
			continue;
		}
		read_option(command, plan, words[i], words[i + 1]);
		i++;
	}
	if (!command->words + !command->passwd + !command->records != 2)
		refuse("data", "one of --words, --passwd and --records (--help)");
}

/* The next of the words between commas in *@rest. */
static char *next_word(char **rest)
{
	char *word = strsep(rest, ",");

	if (word && !*word)
		refuse("a list", "nothing between two commas");
	return word;
}

static char *copy_of(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		refuse("the command", "no memory");
	return copy;
}

static const char *test_named(const char *name)
{
	for (size_t i = 0; test_names[i]; i++)
		if (!strcmp(test_names[i], name))
			return test_names[i];
	refuse(name, "no such test (--help)");
	return NULL;
}

/* The numbers of --threads; how many they are. */
static size_t read_threads(const struct command *command, unsigned *threads)
{
	char *list = copy_of(command->threads), *text;
	size_t count = 0;

	while ((text = next_word(&list))) {
		if (count == THREADS_MOST)
			refuse("--threads", "at most 64 numbers");
		threads[count++] = (unsigned)number("--threads", text, 1, THREADS_MOST);
	}
	return count;
}

/* Every test of the list; a mix for each number of threads. */
static size_t read_steps(const struct command *command, struct step *steps)
{
	char *tests = copy_of(command->tests), *name;
	unsigned threads[THREADS_MOST];
	const size_t numbers = read_threads(command, threads);
	size_t count = 0;

	while ((name = next_word(&tests))) {
		const char *test = test_named(name);
		const size_t times = test[1] ? 1 : numbers;

		for (size_t i = 0; i < times; i++) {
			if (count == STEPS)
				refuse("--tests", "at most 64 with their numbers of threads");
			steps[count].test = test;
			steps[count++].threads = test[1] ? 1 : threads[i];
		}
	}
	return count;
}

/* A number for an option if the system has it; a word or what is out of its range is refused. */
static void set_if_there(struct variant *variant, const char *setting)
{
	char text[128], message[256];
	uint64_t values[SYSTEM_OPTIONS];
	int place;

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(setting, "="), setting);
	place = system_option(variant->system, text);
	if (place < 0)
		return;
	if (system_options(variant->system, setting, values, message, sizeof(message)))
		refuse(variant->system->name, message);
	variant->values[place] = values[place];
}

static void set_nelem(struct variant *variant, const char *nelem, size_t known)
{
	char setting[64];

	if (!strcmp(nelem, "unknown"))
		return;
	if (!strcmp(nelem, "known"))
		snprintf(setting, sizeof(setting), "nelem=%zu", known);
	else
		snprintf(setting, sizeof(setting), "nelem=%llu",
			 (unsigned long long)number("--nelem", nelem, 1, 1000000000));
	set_if_there(variant, setting);
}

static void set_all(struct variant *variant, const char *settings)
{
	char *rest = *settings ? copy_of(settings) : NULL, *setting;

	while ((setting = next_word(&rest)))
		set_if_there(variant, setting);
}

/* What stands behind the system's name goes before what is set for all. */
static void read_variant(const struct command *command, struct variant *variant, const char *text,
			 size_t known)
{
	const size_t length = strcspn(text, ":");
	const char *own = text[length] ? text + length + 1 : "";
	char name[64], message[256];
	uint64_t values[SYSTEM_OPTIONS];

	snprintf(name, sizeof(name), "%.*s", (int)length, text);
	snprintf(variant->label, sizeof(variant->label), "%s", text);
	variant->system = any_system_named(name);
	if (!variant->system)
		refuse(name, "no such system in this build (--list)");
	if (system_options(variant->system, own, values, message, sizeof(message)))
		refuse(variant->system->name, message);
	system_options(variant->system, NULL, variant->values, message, sizeof(message));
	set_nelem(variant, command->nelem, known);
	set_all(variant, command->common ? command->common : "");
	set_all(variant, own);
}

static size_t read_variants(const struct command *command, struct variant *variants, size_t known)
{
	size_t count = command->system_count;

	for (size_t i = 0; i < count; i++)
		read_variant(command, &variants[i], command->systems[i], known);
	for (; !command->system_count && every_system[count]; count++)
		read_variant(command, &variants[count], every_system[count]->name, known);
	return count;
}

/* Several threads are told to a system that wants to know. */
static struct variant for_threads(const struct variant *variant, unsigned threads)
{
	struct variant changed = *variant;

	if (threads > 1)
		set_if_there(&changed, "threads=1");
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

static int run_all(struct plan *plan, const struct variant *variants, size_t systems,
		   const struct step *steps, size_t count, unsigned runs)
{
	const size_t a_run = systems * count;
	struct result *results = mmap(NULL, runs * a_run * sizeof(*results), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;

	if (results == MAP_FAILED)
		refuse("results", strerror(errno));
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
	size_t step_count, systems, known;

	read_command(count, words, &command, &plan);
	step_count = read_steps(&command, steps);
	if (command.words)
		data_read_words(&set, command.words);
	else if (command.passwd)
		data_read_passwd(&set, command.passwd);
	else
		data_make(&set, command.records, plan.operations, plan.seed);
	known = set.count;
	/* A mix inserts records of its own. */
	for (size_t i = 0; i < step_count; i++)
		known = steps[i].test[1] ? known : set.room;
	systems = read_variants(&command, variants, known);
	return run_all(&plan, variants, systems, steps, step_count, (unsigned)command.runs);
}
