/*
 * lat - the time of single calls: those of LMBench, and stat() and open() of paths of the shapes of
 * Tsai 2015, figure 6, with fstatat() and openat() of one component.
 *
 * Each case makes its calls in batches, the first of which does not count; the result is the median
 * batch's mean. What a call takes over one that does nothing (getppid()) stands beside it: the trap
 * and the loop are the same in all.
 */
#define _GNU_SOURCE
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCHES = 5, PAGE = 4096, PAGES = 64 };

/* A path shape: what it is called, the path, the error it ends with. */
struct shape {
	const char *name, *path;
	int error;
};

static const struct shape shapes[] = {
	{"1-comp", "FFF", 0},
	{"2-comp", "XXX/FFF", 0},
	{"4-comp", "XXX/YYY/ZZZ/FFF", 0},
	{"8-comp", "XXX/YYY/ZZZ/AAA/BBB/CCC/DDD/FFF", 0},
	{"link-f", "XXX/YYY/ZZZ/LLL", 0},
	{"link-d", "LLL/YYY/ZZZ/FFF", 0},
	{"neg-f", "XXX/YYY/ZZZ/NNN", ENOENT},
	{"neg-d", "NNN/XXX/YYY/FFF", ENOENT},
	{"1-dotdot", "XXX/../FFF", 0},
	{"4-dotdot", "XXX/YYY/../../AAA/BBB/../../FFF", 0},
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static uint64_t calls = 1000;
static const char *only = "";
static const struct shape *shape; /* the current one */
static int file_fd, folder_fd, ends[2];
static double null_ns; /* of a call that does nothing */
static char page[PAGE];

static void expect(int result, int error, const char *what)
{
	if (error ? result != -1 || errno != error : result < 0)
		fail_errno("%s", what);
}

static void call_null(void)
{
	syscall(SYS_getppid);
}

static void call_stat(void)
{
	struct stat status;

	expect(stat(shape->path, &status), shape->error, shape->path);
}

static void call_open(void)
{
	int fd = open(shape->path, O_RDONLY);

	expect(fd, shape->error, shape->path);
	if (fd >= 0)
		close(fd);
}

static void call_fstatat(void)
{
	struct stat status;

	expect(fstatat(folder_fd, "FFF", &status, 0), 0, "fstatat");
}

static void call_openat(void)
{
	int fd = openat(folder_fd, "FFF", O_RDONLY);

	expect(fd, 0, "openat");
	close(fd);
}

static void call_read(void)
{
	expect((int)pread(file_fd, page, PAGE, 0), 0, "read");
}

static void call_write(void)
{
	expect((int)pwrite(file_fd, page, PAGE, 0), 0, "write");
}

static void call_pipe(void)
{
	expect((int)write(ends[1], page, 1), 0, "write to a pipe");
	expect((int)read(ends[0], page, 1), 0, "read from a pipe");
}

static void reap(pid_t child)
{
	int status;

	expect(waitpid(child, &status, 0), 0, "waitpid");
	if (status)
		fail("a child ended with status %#x", status);
}

static void call_fork(void)
{
	pid_t child = fork_child();

	if (child == 0)
		_exit(0);
	reap(child);
}

static void call_exec(void)
{
	pid_t child = vfork();

	expect(child, 0, "vfork");
	if (child == 0) {
		execl("/proc/self/exe", "workload", EXIT_AT_ONCE, NULL);
		_exit(127);
	}
	reap(child);
}

static void touch(int flags, int fd)
{
	volatile char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (pages == MAP_FAILED)
		fail_errno("mmap");
	for (int i = 0; i < PAGES; i++)
		if (flags & MAP_ANONYMOUS)
			pages[i * PAGE] = 1;
		else
			(void)pages[i * PAGE];
	munmap((void *)pages, PAGES * PAGE);
}

static void call_fault(void)
{
	touch(MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void call_map(void)
{
	touch(MAP_SHARED, file_fd);
}

/* There and back between two processes; the other ends when the pipe does. */
static int there[2], back[2];

static pid_t start_partner(void)
{
	pid_t child;
	char byte;

	expect(pipe(there), 0, "pipe");
	expect(pipe(back), 0, "pipe");
	child = fork_child();
	if (child)
		return child;
	close(there[1]);
	while (read(there[0], &byte, 1) == 1)
		expect((int)write(back[1], &byte, 1), 0, "write");
	_exit(0);
}

static void call_switch(void)
{
	char byte = 0;

	expect((int)write(there[1], &byte, 1), 0, "write");
	expect((int)read(back[0], &byte, 1), 0, "read");
}

/* @share of --calls make a batch; one call does the thing measured @times times. */
static const struct {
	const char *name;
	void (*call)(void);
	unsigned share, times;
} cases[] = {
	{"null call", call_null, 1, 1},
	{"read 4K", call_read, 1, 1},
	{"write 4K", call_write, 1, 1},
	{"pipe", call_pipe, 1, 1},
	{"fork+exit", call_fork, 20, 1},
	{"exec", call_exec, 20, 1},
	{"page fault, anonymous", call_fault, 50, PAGES},
	{"page fault, file", call_map, 50, PAGES},
	{"context switch", call_switch, 2, 2},
	{"fstatat 1-comp", call_fstatat, 1, 1},
	{"openat 1-comp", call_openat, 1, 1},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median of the batches of @batch calls but the first, in nanoseconds; in @all their sum. */
static uint64_t time_batches(void (*call)(void), uint64_t batch, uint64_t *all)
{
	uint64_t ns[BATCHES + 1];

	*all = 0;
	for (int i = 0; i <= BATCHES; i++) {
		uint64_t start = now_ns();

		for (uint64_t j = 0; j < batch; j++)
			call();
		ns[i] = now_ns() - start;
		*all += i ? ns[i] : 0;
	}
	qsort(ns + 1, BATCHES, sizeof(*ns), compare);
	return ns[1 + BATCHES / 2];
}

/* Call it, and print the case; only if it is one of those wanted. */
static void measure(const char *name, void (*call)(void), unsigned share, unsigned times)
{
	uint64_t batch = (calls + share - 1) / share, all, digest = DIGEST_START;
	double each;

	progress_add(1);
	if (!strstr(name, only))
		return;
	measured_start();
	each = (double)time_batches(call, batch, &all) / (double)(batch * times);
	measured_stop();
	digest_add(&digest, name);
	digest_add_number(&digest, batch);
	result_begin(name, all);
	result_number("calls", batch * BATCHES * times);
	result_real("ns_per_call", each);
	result_real("ns_over_null", each - null_ns);
	result_end(digest);
}

static void make_tree(void)
{
	static const char *const folders[] = {"XXX",
					      "XXX/YYY",
					      "XXX/YYY/ZZZ",
					      "XXX/YYY/ZZZ/AAA",
					      "XXX/YYY/ZZZ/AAA/BBB",
					      "XXX/YYY/ZZZ/AAA/BBB/CCC",
					      "XXX/YYY/ZZZ/AAA/BBB/CCC/DDD",
					      "AAA",
					      "AAA/BBB"};

	make_file("FFF", PAGES * PAGE);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *path = join("%s/FFF", folders[i]);

		make_folder(folders[i]);
		make_file(path, PAGE);
		free(path);
	}
	expect(symlink("FFF", "XXX/YYY/ZZZ/LLL"), 0, "symlink");
	expect(symlink("XXX", "LLL"), 0, "symlink");
	file_fd = open("FFF", O_RDWR);
	expect(file_fd, 0, "FFF");
	folder_fd = open(".", O_RDONLY | O_DIRECTORY);
	expect(folder_fd, 0, "the folder");
	expect(pipe(ends), 0, "pipe");
}

static void run(void)
{
	pid_t partner;
	uint64_t all;

	make_tree();
	partner = start_partner();
	null_ns = (double)time_batches(call_null, calls, &all) / (double)calls;
	progress_start("cases", CASES + 2 * SHAPES);
	for (int i = 0; i < CASES; i++)
		measure(cases[i].name, cases[i].call, cases[i].share, cases[i].times);
	for (int i = 0; i < 2 * SHAPES; i++) {
		char *name;

		shape = &shapes[i % SHAPES];
		name = join("%s %s", i < SHAPES ? "stat" : "open", shape->name);
		measure(name, i < SHAPES ? call_stat : call_open, 1, 1);
		free(name);
	}
	close(there[1]);
	reap(partner);
}

static void check(void)
{
	int found = 0;

	for (int i = 0; i < CASES; i++)
		found |= strstr(cases[i].name, only) != NULL;
	for (int i = 0; i < SHAPES; i++) {
		char *names = join("stat %s|open %s", shapes[i].name, shapes[i].name);

		found |= strstr(names, only) && !strchr(only, '|');
		free(names);
	}
	if (!found)
		usage("--only %s: no case is called so; workload lat prints them all", only);
}

/* clang-format off */
static const struct option_row options[] = {
	{"calls", OPTION_NUMBER, "N", "of a batch; five count, the slow kinds make fewer; 1000 without it", &calls, 20, 100000000},
	{"only", OPTION_TEXT, "TEXT", "only the cases with this in their name", &only, 0, 0},
	{.name = NULL},
};
/* clang-format on */

const struct load lat_load = {
	"lat",
	"the time of single calls, as LMBench's, and of paths of the shapes of Tsai 2015, figure 6",
	options,
	check,
	run,
};
