/*
 * main.c - which scripts the ring of power cuts runs, each in a process of its own.
 *
 *	powercut                          all scripts of two calls, and 200 of three
 *	powercut --threes 5000 --seed 7   as many of three, drawn from a seed
 *	powercut --together 500           and of two and three of which some run at the same time
 *	powercut --pairs-one-in 4         a fourth of those of two, drawn from the seed
 *	powercut --image 4k-groups        on blocks of 4 KB, in several groups
 *	powercut --minutes 60             of three to five until the time is over
 *	powercut --script "truncate foo 0; syncwrite new 0 3072" [--cut 7:only:3]
 *
 * It ends with 1 if something that was promised is not there after some cut, which is printed with
 * the command that shows it again. --budget is how many images of a script are judged, --jobs how
 * many scripts at a time.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "hosted/powercut/powercut.h"

#define SEEN_SIZE (1u << 20)
#define REPORTS_MAX 3 /* of one script */

static struct hosted_disk disk;
static struct options {
	u64 seed;
	unsigned minutes, threes, together, budget, jobs;
	unsigned pairs_one_in; /* 0: none */
	const char *script;
	struct cut cut;
	bool one_cut;
} options = {.seed = 1, .threes = 200, .jobs = 1, .pairs_one_in = 1};

static struct shared {
	struct cut_totals totals; /* under no lock: jobs have one each */
} * shared;			  /* [jobs] */
static u64 *seen;
static unsigned job;
static const char *program;

/* ---- one script ------------------------------------------------------------------------------ */

static const char *script_text;

static void report(const struct script *script, const struct cut *cut, const char *wrong)
{
	static unsigned reports;

	(void)script;
	if (++reports > REPORTS_MAX && !options.one_cut)
		return;
	printf("not ok: %s\n  the power is cut after %u of %u requests, of %u pending blocks are "
	       "kept: %s %llu\n  %s\n  %s --image %s --script '%s' --seed %llu "
	       "--cut %u:%s:%llu\n",
	       script_text, cut->after, journal_length, cut_pending(cut->after),
	       subset_names[cut->subset], (unsigned long long)cut->which, wrong, program,
	       geometry->name, script_text, (unsigned long long)options.seed, cut->after,
	       subset_names[cut->subset],
	       (unsigned long long)cut->which);
	fflush(stdout);
}

static void show_journal(const struct script *script)
{
	for (unsigned i = 0, op = 0; i <= journal_length; i++) {
		for (; op < script->count && script->ops[op].begun <= i; op++)
			printf("# call %u begins at %u, has returned at %u\n", op + 1,
			       script->ops[op].begun, script->ops[op].done);
		if (i == journal_length)
			break;
		if (journal[i].kind == EVENT_FLUSH)
			printf("#   %u: flush\n", i);
		else
			printf("#   %u: write of block %llu, %llu bytes\n", i,
			       (unsigned long long)journal[i].sector * SECTOR_SIZE / geometry->block,
			       (unsigned long long)journal[i].bytes);
	}
}

/* In a process of its own: false if something failed. */
static bool run_script(struct script *script, const char *text)
{
	int status;
	pid_t child;

	script_text = text;
	test_where("%s", text);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		try_cuts(script, &disk, options.budget, options.seed,
			 options.one_cut ? &options.cut : NULL, &shared[job].totals, seen,
			 SEEN_SIZE, report);
		if (options.script)
			show_journal(script);
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	printf("not ok: %s\n  the kernel died of it\n", text);
	shared[job].totals.failed++;
	return false;
}

/* ---- all scripts ----------------------------------------------------------------------------- */

static void run_text(const char *text)
{
	static struct script script;

	if (script_make(&script, text))
		run_script(&script, text);
}

static void run_pairs(struct rng *rng)
{
	char text[SCRIPT_MAX];

	for (unsigned i = 0; i < vocabulary_size * vocabulary_size; i++) {
		if (i % options.jobs != job || rng_below(rng, options.pairs_one_in))
			continue;
		snprintf(text, sizeof(text), "%s; %s", vocabulary[i / vocabulary_size],
			 vocabulary[i % vocabulary_size]);
		run_text(text);
	}
}

/* @calls of the vocabulary that have a meaning one after the other; @together: or at the same time,
 * and then mostly with a sync among them. */
static void run_random(struct rng *rng, unsigned calls, bool together)
{
	static struct script script;
	char text[SCRIPT_MAX] = "", longer[2 * SCRIPT_MAX];
	const char *join = "";

	for (unsigned i = 0; i < calls;) {
		bool sync = together && rng_below(rng, 2);

		snprintf(longer, sizeof(longer), "%s%s%s", text, join,
			 vocabulary[rng_below(rng, vocabulary_size)]);
		if (strlen(longer) >= SCRIPT_MAX || !script_make(&script, longer) ||
		    (sync && script.ops[i].verb < VERB_MSYNC && strcmp(join, " & ") == 0))
			continue;
		strcpy(text, longer);
		i++;
		join = together && rng_below(rng, 3) ? " & " : "; ";
	}
	run_text(text);
}

static void run_job(void)
{
	struct rng rng = {options.seed * 1000 + job};
	time_t end = time(NULL) + 60 * options.minutes;
	static char path[128];

	snprintf(path, sizeof(path), "%s/cut%u", access("/dev/shm", W_OK) ? scratch() : "/dev/shm",
		 (unsigned)getpid());
	judge_image_path = path;
	if (options.script) {
		run_text(options.script);
	} else {
		for (unsigned i = 0; i < options.threes / options.jobs; i++)
			run_random(&rng, 3, false);
		for (unsigned i = 0; i < options.together / options.jobs; i++)
			run_random(&rng, 2 + i % 2, true);
		if (options.pairs_one_in)
			run_pairs(&rng);
		while (options.minutes && time(NULL) < end)
			run_random(&rng, 2 + (unsigned)rng_below(&rng, OPS_MAX - 1),
				   rng_below(&rng, 2));
	}
	unlink(path);
	fflush(stdout);
}

/* ---- options --------------------------------------------------------------------------------- */

static void usage(void)
{
	fprintf(stderr, "usage: powercut [--seed N] [--threes N] [--no-pairs] [--minutes N] "
			"[--together N] [--pairs-one-in N] [--image NAME] "
			"[--budget N] [--jobs N] [--script TEXT [--cut AFTER:SUBSET:WHICH]]\n"
			"       powercut --list: the calls\n");
	exit(2);
}

enum { SEED = 1, THREES, NO_PAIRS, MINUTES, BUDGET, JOBS, SCRIPT, CUT, LIST, TOGETHER, PAIRS, IMAGE };

/* @argument is NULL of an option that has none. */
static void set_option(int option, char *argument)
{
	unsigned number = argument ? (unsigned)strtoul(argument, NULL, 10) : 0;

	switch (option) {
	case SEED:
		options.seed = strtoull(argument, NULL, 10);
		break;
	case THREES:
		options.threes = number;
		break;
	case NO_PAIRS:
		options.pairs_one_in = 0;
		break;
	case MINUTES:
		options.minutes = number;
		break;
	case BUDGET:
		options.budget = number;
		break;
	case JOBS:
		options.jobs = number ? number : 1;
		break;
	case SCRIPT:
		options.script = argument;
		options.jobs = 1;
		break;
	case TOGETHER:
		options.together = number;
		break;
	case PAIRS:
		options.pairs_one_in = number;
		break;
	case IMAGE:
		if (!choose_geometry(argument))
			usage();
		break;
	case CUT:
		options.one_cut = cut_parse(argument, &options.cut);
		if (!options.one_cut)
			usage();
		break;
	case LIST:
		for (unsigned i = 0; i < vocabulary_size; i++)
			puts(vocabulary[i]);
		exit(0);
	default:
		usage();
	}
}

static void parse(int argc, char **argv)
{
	static const struct option names[] = {
		{"seed", 1, NULL, SEED},	 {"threes", 1, NULL, THREES},
		{"no-pairs", 0, NULL, NO_PAIRS}, {"minutes", 1, NULL, MINUTES},
		{"budget", 1, NULL, BUDGET},	 {"jobs", 1, NULL, JOBS},
		{"script", 1, NULL, SCRIPT},	 {"cut", 1, NULL, CUT},
		{"together", 1, NULL, TOGETHER}, {"pairs-one-in", 1, NULL, PAIRS},
		{"image", 1, NULL, IMAGE},	 {"list", 0, NULL, LIST},
		{0}};
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
		set_option(option, optarg);
}

static void *share(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	BUG_ON(memory == MAP_FAILED);
	return memory;
}

int main(int argc, char **argv)
{
	struct cut_totals sum = {0};

	program = argv[0];
	test_failure_aborts = true; /* a script whose CHECK fails has failed */
	parse(argc, argv);
	if (!options.budget)
		options.budget = options.script ? 400 : 5;
	shared = share(options.jobs * sizeof(*shared));
	seen = share(SEEN_SIZE * sizeof(*seen));
	hosted_quiet = true;
	hosted_init(64);
	prepare_image(&disk);
	for (job = 0; job < options.jobs; job++)
		if (options.jobs > 1 && fork() == 0) {
			run_job();
			_exit(0);
		} else if (options.jobs == 1) {
			run_job();
		}
	while (wait(NULL) > 0)
		;
	for (unsigned i = 0; i < options.jobs; i++) {
		const struct cut_totals *one = &shared[i].totals;

		sum.scripts += one->scripts;
		sum.cuts += one->cuts;
		sum.images += one->images;
		sum.checks += one->checks;
		sum.failed += one->failed;
		sum.failed_scripts += one->failed_scripts;
	}
	printf("%s seed %llu: %llu scripts, %llu cuts, %llu images, %llu runs of e2fsck; "
	       "%llu images of %llu scripts failed\n",
	       sum.failed ? "not ok" : "ok", (unsigned long long)options.seed,
	       (unsigned long long)sum.scripts, (unsigned long long)sum.cuts,
	       (unsigned long long)sum.images, (unsigned long long)sum.checks,
	       (unsigned long long)sum.failed, (unsigned long long)sum.failed_scripts);
	return sum.failed || !sum.scripts;
}
