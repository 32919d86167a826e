/*
 * ladder - calls by many processes at once, each of which the kernel could do on a CPU of its own:
 * how far it can is what lock schemes differ in.
 *
 * Each process does --operations of a case, one after the other; all begin together, when the last
 * has done a few of them to warm its caches. The simulation of several CPUs
 * (docs/lab/simulated/several-cpus.md) says what the slowest of them took; times of the machine's
 * own clock say nothing where CPUs run in turn.
 *
 * stat one: stat() of one path of four components by all. open one: open() and close() of it. stat
 * different: each of a path of its own. create: each makes, closes and removes files in a folder of
 * its own. rename: each renames a file of its own to and fro in its folder. mixed: of ten calls six
 * stats of the common path, two of its own, a file made and removed, a rename, in an order drawn
 * from the seed.
 */
#define _GNU_SOURCE
#include "../region.h"
#include "files.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WARMING = 8 };

#define COMMON_PATH "common/a/b/file"

/* Seen by all processes: a number each that only grows, so that nobody waits for one that is set
 * back. */
static struct meeting {
	_Alignas(128) _Atomic unsigned ready;
	_Alignas(128) _Atomic unsigned begun;
	_Alignas(128) _Atomic unsigned finished;
} * meeting;

static uint64_t processes = 1, operations = 500;
static const char *only = "";

/* A process's own. */
static char own_path[32], created[32], names[2][32];
static struct random order;
static unsigned renames;

static void stat_path(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		fail_errno("stat %s", path);
}

static void stat_one(void)
{
	stat_path(COMMON_PATH);
}

static void open_one(void)
{
	int fd = open(COMMON_PATH, O_RDONLY);

	if (fd < 0)
		fail_errno("open %s", COMMON_PATH);
	close(fd);
}

static void stat_different(void)
{
	stat_path(own_path);
}

static void create_and_remove(void)
{
	int fd = open(created, O_CREAT | O_EXCL | O_WRONLY, 0644);

	if (fd < 0)
		fail_errno("create %s", created);
	close(fd);
	if (unlink(created))
		fail_errno("unlink %s", created);
}

static void rename_own(void)
{
	const char *from = names[renames % 2], *to = names[(renames + 1) % 2];

	if (rename(from, to))
		fail_errno("rename %s", from);
	renames++;
}

static void mixed(void)
{
	uint64_t drawn = random_below(&order, 10);

	if (drawn < 6)
		stat_one();
	else if (drawn < 8)
		stat_different();
	else if (drawn < 9)
		create_and_remove();
	else
		rename_own();
}

static const struct ladder_case {
	const char *name;
	void (*call)(void);
} cases[] = {
	{"stat one", stat_one},
	{"stat different", stat_different},
	{"create", create_and_remove},
	{"rename", rename_own},
	{"mixed", mixed},
	{"open one", open_one},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

/* `pause` ends the turn of a CPU that runs in turn with others. */
static void wait_until(_Atomic unsigned *number, unsigned value)
{
	while (atomic_load(number) < value)
		__builtin_ia32_pause();
}

static int is_wanted(const struct ladder_case *one)
{
	return !*only || !strcmp(only, one->name);
}

/* What process @number does in round @round, from 1 on; process 0 measures. Returns nanoseconds. */
static uint64_t take_part(const struct ladder_case *one, unsigned number, unsigned round)
{
	unsigned all = (unsigned)processes * round;
	uint64_t start = 0;

	for (int i = 0; i < WARMING; i++)
		one->call();
	atomic_fetch_add(&meeting->ready, 1);
	if (number == 0) {
		wait_until(&meeting->ready, all);
		measured_start();
		atomic_store(&meeting->begun, round);
		start = now_ns();
	}
	wait_until(&meeting->begun, round);
	for (uint64_t i = 0; i < operations; i++)
		one->call();
	region_done();
	atomic_fetch_add(&meeting->finished, 1);
	wait_until(&meeting->finished, all);
	if (number == 0) {
		start = now_ns() - start;
		measured_stop();
	}
	return start;
}

static void be_process(unsigned number)
{
	snprintf(own_path, sizeof(own_path), "own%u/a/b/file", number);
	snprintf(created, sizeof(created), "own%u/created", number);
	snprintf(names[0], sizeof(names[0]), "own%u/here", number);
	snprintf(names[1], sizeof(names[1]), "own%u/there", number);
	random_start(&order, common.seed, number);
}

static void report(const struct ladder_case *one, uint64_t elapsed)
{
	uint64_t digest = DIGEST_START;

	digest_add(&digest, one->name);
	digest_add_number(&digest, operations);
	result_begin(one->name, elapsed);
	result_number("processes", processes);
	result_number("operations", processes * operations);
	result_real("operations_per_second", per_second(processes * operations, elapsed));
	result_end(digest);
}

static void do_cases(unsigned number)
{
	unsigned round = 1;

	/* What is measured first finds caches and page tables empty: it is not reported. */
	take_part(&cases[0], number, round);
	for (int i = 0; i < CASES; i++) {
		uint64_t elapsed;

		if (!is_wanted(&cases[i]))
			continue;
		elapsed = take_part(&cases[i], number, ++round);
		if (number == 0)
			report(&cases[i], elapsed);
	}
}

static void make_folders(const char *top)
{
	char path[64];

	make_folder(top);
	snprintf(path, sizeof(path), "%s/here", top);
	make_file(path, 1);
	snprintf(path, sizeof(path), "%s/a", top);
	make_folder(path);
	snprintf(path, sizeof(path), "%s/a/b", top);
	make_folder(path);
	snprintf(path, sizeof(path), "%s/a/b/file", top);
	make_file(path, 1);
}

/* Who sleeps is woken on a CPU that has nothing to do: so one after the other gets its own, and
 * keeps it, since none sleeps again. */
static void find_idle_cpu(unsigned number)
{
	nanosleep(&(struct timespec){.tv_nsec = number * 50000L}, NULL);
}

static void run(void)
{
	char name[16];

	meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (meeting == MAP_FAILED)
		fail_errno("mmap");
	make_folders("common");
	for (unsigned i = 0; i < processes; i++) {
		snprintf(name, sizeof(name), "own%u", i);
		make_folders(name);
	}
	for (unsigned i = 1; i < processes; i++)
		if (fork_child() == 0) {
			be_process(i);
			find_idle_cpu(i);
			do_cases(i);
			_exit(0);
		}
	be_process(0);
	do_cases(0);
	for (unsigned i = 1; i < processes; i++) {
		int status;

		if (wait(&status) < 0 || status)
			fail("a process of the load has failed");
	}
}

static void check(void)
{
	for (int i = 0; i < CASES; i++)
		if (is_wanted(&cases[i]))
			return;
	usage("--only %s: there is no such case", only);
}

/* clang-format off */
static const struct option_row options[] = {
	{"processes", OPTION_NUMBER, "N", "at once; 1 without it. As many as there are CPUs: they wait for each other awake", &processes, 1, 16},
	{"operations", OPTION_NUMBER, "N", "of each process in each case; 500 without it", &operations, 1, 1000000},
	{"only", OPTION_TEXT, "CASE", "this case alone", &only, 0, 0},
	{.name = NULL},
};
/* clang-format on */

const struct load ladder_load = {
	"ladder",
	"stat, create and rename by many processes at once, for the simulation of several CPUs",
	options,
	check,
	run,
};
