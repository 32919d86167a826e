/*
 * main.c - interleavings: the command. Runs programs by many seeds, each run in a process of its
 * own, and says which seed failed and how to see that again; see docs/testing.md.
 *
 *   ring --list                      the programs
 *   ring NAME... [--runs N] [--seconds S] [--first SEED]
 *                                    until the first failure; each program for so many runs, or so
 *                                    long, from that seed of the programs on
 *   ring NAME --seed P:S             that run again; --trace prints every point of it
 *                                    --no-races: only what goes wrong, not what races;
 *                                    --go-on: after a failure, too
 *   ring [NAME...] --minutes M       in turns, from fresh seeds, and goes on after failures
 */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/log/assert.h"
#include "hosted/interleave/ring/ring.h"

#define TURN_SECONDS 20 /* of a program, in a long run */
#define FAILURES_MAX 3	/* in a turn; mostly they are one */
#define RUN_SECONDS 60	/* of CPU time; far more than any takes */

struct ring_shared *ring_shared;
u64 ring_program_seed;
struct rng ring_program_rng;

static struct ring_program *programs, **programs_end = &programs;
static u64 schedule_seed;
static const char *own_path;
static bool failing; /* a failure is being told: another one changes nothing */

static struct {
	u64 runs, first, program_seed, schedule_seed;
	double seconds, minutes;
	bool replay, no_races, go_on;
} options = {.first = 1};

void ring_register(struct ring_program *program)
{
	*programs_end = program;
	programs_end = &program->next;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- one run ----------------------------------------------------------------------------------
 */

static __noreturn void end_failing(void)
{
	ring_active = false;
	if (!failing) {
		failing = true;
		stacks_show_tasks();
	}
	_exit(1);
}

void ring_fail(const char *format, ...)
{
	va_list arguments;

	ring_active = false;
	fprintf(stderr, "%s: ", test_place());
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
	end_failing();
}

/* A panic, a CHECK that does not hold, a wild access, no end. */
static void died(int signal)
{
	if (signal != SIGABRT)
		fprintf(stderr, "%s: %s\n", test_place(),
			signal == SIGPROF ? "does not end" : strsignal(signal));
	end_failing();
}

static void catch_signals(void)
{
	static char stack[KB(64)];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = died, .sa_flags = SA_ONSTACK | SA_NODEFER};
	struct itimerval limit = {.it_value.tv_sec = RUN_SECONDS};
	static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGPROF};

	sigaltstack(&other, NULL);
	for (unsigned i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
	setitimer(ITIMER_PROF, &limit, NULL);
}

static __noreturn void run_child(const struct ring_program *program)
{
	catch_signals();
	test_failure_aborts = true;
	ring_program_rng.state = ring_program_seed;
	ring_shared->run_steps = ring_shared->trace_hash = 0;
	schedule_begin(schedule_seed);
	stores_begin(schedule_seed);
	program->run();
	fflush(stdout);
	_exit(0);
}

/* Did it end well? The profile leaves behind what the schedules choose from. */
static bool run_once(const struct ring_program *program, u64 seed)
{
	pid_t child;
	int status;

	schedule_seed = seed;
	test_where("%s %llu:%llu", program->name, ring_program_seed, seed);
	if (!seed) {
		ring_shared->steps = 0;
		memset(ring_shared->sites, 0, sizeof(ring_shared->sites));
		memset(ring_shared->granules, 0, sizeof(ring_shared->granules));
	}
	fflush(NULL);
	child = fork();
	if (!child)
		run_child(program);
	if (child < 0 || waitpid(child, &status, 0) != child)
		panic("no process for a run");
	if (!seed)
		ring_shared->steps = max(ring_shared->run_steps, 1ull);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- races ------------------------------------------------------------------------------------
 */

static char *rules; /* races.txt */

static void read_rules(void)
{
	FILE *file = fopen(RING_RACES_FILE, "r");
	size_t room = 0;

	if (!file || getdelim(&rules, &room, 0, file) < 0)
		panic("cannot read %s", RING_RACES_FILE);
	fclose(file);
}

/* Is function @name (of @length, "*": any) one of those in @stack's innermost frames? */
static bool names(const char *text, const char *name, size_t length)
{
	if (length == 1 && *name == '*')
		return true;
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		if (!strncmp(line, name, length) && !strncmp(line + length, " at ", 4))
			return true;
	return false;
}

/* A line is `FUNCTION FUNCTION: reason`, of either order. */
static bool race_is_meant(const struct ring_race *race)
{
	char text[2][4096];

	for (unsigned i = 0; i < 2; i++)
		stacks_names(&race->stack[i], 2, text[i], sizeof(text[i]));
	for (const char *line = rules; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		size_t a = strcspn(line, " \n"), b;
		const char *second = line + a + 1;

		if (!*line || *line == '#' || *line == '\n' || line[a] != ' ')
			continue;
		b = strcspn(second, ":\n");
		if ((names(text[0], line, a) && names(text[1], second, b)) ||
		    (names(text[1], line, a) && names(text[0], second, b)))
			return true;
	}
	return false;
}

static void print_race(const struct ring_race *race)
{
	fprintf(stderr, "%s: data race on %s\n", test_place(), race->place);
	for (unsigned i = 0; i < 2; i++) {
		fprintf(stderr, "  task %u %s here:\n", race->task[i], race->what[i]);
		stacks_print(&race->stack[i]);
	}
}

/* Those found since the last look: were all of them meant? */
static bool races_meant(unsigned *seen)
{
	bool meant = true;

	for (; *seen < ring_shared->race_count; ++*seen)
		if (!options.no_races && !race_is_meant(&ring_shared->races[*seen])) {
			print_race(&ring_shared->races[*seen]);
			meant = false;
		}
	return meant;
}

/* ---- a program's runs -------------------------------------------------------------------------
 */

static void say_replay(const struct ring_program *program, u64 runs, double seconds)
{
	printf("not ok %s: seed %llu:%llu, after %llu runs in %.1f s\n  again: %s %s --seed %llu:%llu\n",
	       program->name, ring_program_seed, schedule_seed, runs, seconds, own_path,
	       program->name, ring_program_seed, schedule_seed);
}

/* Of run @n: the seeds of program and schedule; 0 begins a program. */
static void choose_seeds(const struct ring_program *program, u64 n, u64 *schedule)
{
	ring_program_seed = options.first + n / (program->weight + 1);
	*schedule = n % (program->weight + 1);
	if (*schedule) /* not the same ones for every program */
		*schedule += 1000 * ring_program_seed;
}

static int run_all(const struct ring_program *program, bool go_on, double seconds)
{
	u64 steps = 0, runs = 0, schedule, failures = 0;
	double start = now();
	unsigned seen = 0;

	for (; seconds ? now() - start < seconds : runs < options.runs; runs++) {
		choose_seeds(program, runs, &schedule);
		bool ok = run_once(program, schedule);

		ok &= races_meant(&seen);
		steps += ring_shared->run_steps;
		if (!ring_shared->run_steps) /* no tasks: all schedules are the same */
			runs += program->weight - runs % (program->weight + 1);
		if (ok)
			continue;
		failures++;
		say_replay(program, runs + 1, now() - start);
		if (!go_on || (failures == FAILURES_MAX && options.minutes))
			return 1;
	}
	printf("%s %s: %llu runs, %llu points, %.1f s\n", failures ? "not ok" : "ok", program->name,
	       runs, steps, now() - start);
	return failures != 0;
}

static int replay(const struct ring_program *program)
{
	unsigned seen = 0;
	bool trace = ring_trace, ok;

	ring_program_seed = options.program_seed;
	ring_trace = false;
	hosted_quiet = false;
	ok = run_once(program, 0);
	ring_shared->race_count = 0;
	ring_trace = trace;
	if (options.schedule_seed || trace)
		ok = run_once(program, options.schedule_seed);
	ok &= races_meant(&seen);
	printf("%s %s %llu:%llu: %llu points, %llu switches, trace %016llx\n", ok ? "ok" : "not ok",
	       program->name, ring_program_seed, schedule_seed, ring_shared->run_steps,
	       ring_shared->switches, ring_shared->trace_hash);
	return !ok;
}

/* The world in which it runs is a process's of its own. */
static int in_world(const struct ring_program *program, bool go_on, double seconds)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		hosted_quiet = true;
		memset(ring_shared, 0, sizeof(*ring_shared));
		races_begin();
		ring_begin();
		program->prepare();
		exit(options.replay ? replay(program) : run_all(program, go_on, seconds));
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		panic("no process");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

static bool chosen(const struct ring_program *program, int argc, char **argv)
{
	for (int i = optind; i < argc; i++)
		if (!strcmp(argv[i], program->name))
			return true;
	return optind == argc && !strstr(program->name, "toy_");
}

static int for_minutes(int argc, char **argv)
{
	double end = now() + 60 * options.minutes;
	int status = 0;

	options.first = (u64)time(NULL) * 1000;
	while (now() < end) {
		for (struct ring_program *program = programs; program; program = program->next)
			if (chosen(program, argc, argv) && now() < end)
				status |= in_world(program, true, TURN_SECONDS);
		options.first += 1000;
	}
	return status;
}

/* ---- the command ------------------------------------------------------------------------------
 */

static const struct option long_options[] = {
	{"list", no_argument, NULL, 'l'},	   {"runs", required_argument, NULL, 'r'},
	{"seconds", required_argument, NULL, 's'}, {"first", required_argument, NULL, 'f'},
	{"seed", required_argument, NULL, 'S'},	   {"trace", no_argument, NULL, 't'},
	{"minutes", required_argument, NULL, 'm'}, {"no-races", no_argument, NULL, 'n'},
	{"go-on", no_argument, NULL, 'g'},	   {},
};

static bool take_option(int option)
{
	switch (option) {
	case 'l':
		for (struct ring_program *program = programs; program; program = program->next)
			printf("%s\n", program->name);
		exit(0);
	case 'r':
		options.runs = strtoull(optarg, NULL, 0);
		return true;
	case 's':
		options.seconds = strtod(optarg, NULL);
		return true;
	case 'f':
		options.first = strtoull(optarg, NULL, 0);
		return true;
	case 'm':
		options.minutes = strtod(optarg, NULL);
		return true;
	case 'g':
		return options.go_on = true;
	case 'n':
		return options.no_races = true;
	case 't':
		return ring_trace = true;
	case 'S':
		options.replay = true;
		return sscanf(optarg, "%llu:%llu", &options.program_seed, &options.schedule_seed) ==
		       2;
	default:
		return false;
	}
}

static const char usage[] =
	"usage: ring [NAME...] [--runs N] [--seconds S] [--first SEED] [--minutes M]\n"
	"            [--seed P:S] [--trace] [--no-races] [--go-on]\n"
	"       ring --list\n"
	"hosted/interleave/ring/main.c says what each is.\n";

/* Is there a program of each name that was given? What was never run must not look as if it had
 * passed. */
static bool all_are_there(int argc, char **argv)
{
	for (int i = optind; i < argc; i++) {
		const struct ring_program *program = programs;

		while (program && strcmp(argv[i], program->name))
			program = program->next;
		if (!program) {
			fprintf(stderr, "ring: there is no program %s; ring --list names them\n",
				argv[i]);
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	int option, status = 0;

	own_path = argv[0];
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		if (!take_option(option)) {
			fputs(usage, stderr);
			return 2;
		}
	if (!all_are_there(argc, argv))
		return 2;
	ring_shared = mmap(NULL, sizeof(*ring_shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	BUG_ON(ring_shared == MAP_FAILED);
	read_rules();
	scratch(); /* one for all processes, removed by us */
	if (!options.runs && !options.seconds)
		options.runs = 200;
	if (options.minutes)
		return for_minutes(argc, argv);
	for (struct ring_program *program = programs; program; program = program->next)
		if (chosen(program, argc, argv))
			status |= in_world(program, options.go_on, options.seconds);
	return status;
}
