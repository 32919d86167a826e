/*
 * bench - the cost of single system calls, for the table in docs/lab/figures.md.
 *
 * A plain static Linux program: the same binary runs on Chainwalk and on Linux. It reads the
 * time-stamp counter around batches of calls; under QEMU's `-icount shift=0` one tick is one
 * instruction (user and kernel, the loop included), and outside QEMU it is whatever the CPU counts.
 * The least of several batches is printed, so that a timer interrupt or a first miss does not
 * count. Each batch is a part between marks (region.h) too, for the plugin of ./cw bench, which
 * counts the locked instructions of each.
 *
 * Usage: bench DIRECTORY [ROW...]	DIRECTORY is scratch space (on tmpfs for the
 *					table); it is emptied.
 *	BENCH_DYNAMIC=PROGRAM in the environment names the program of the row "exec dynamic".
 * Output: a line of JSON for each row, {"row": "stat 1", "ticks": 612, "calls": 200, "part": 17}:
 *	ticks of one call, calls of a batch, and which of all parts since the start was the least.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "region.h"

enum { BATCHES = 8, BATCH = 200, PAGE = 4096, PAGES = 64, AREAS = 2000 };

/* The path shapes of Tsai 2015, figure 6. */
#define DIR2 "XXX/"
#define DIR4 "XXX/YYY/ZZZ/"
#define DIR8 "XXX/YYY/ZZZ/AAA/BBB/CCC/DDD/"

/* @batch calls of @call one after the other, or what @timed says that @batch operations took. */
struct row {
	const char *name;
	void (*call)(void);
	int batch;
	uint64_t (*timed)(void);
};

static int file_fd;
static char block[PAGE];
static char own_path[4096]; /* of this program, which "exec static" executes */

static uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static unsigned parts; /* that have ended */

/* What is measured begins; returns the ticks at its begin. */
static uint64_t begin_part(void)
{
	region_start();
	return ticks();
}

/* It ends; returns the ticks that it took. */
static uint64_t end_part(uint64_t start)
{
	uint64_t taken = ticks() - start;

	region_stop();
	parts++;
	return taken;
}

static void fail(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void expect(int result, int wanted_errno, const char *what)
{
	if (wanted_errno ? (result != -1 || errno != wanted_errno) : result < 0)
		fail(what);
}

static void stat_path(const char *path)
{
	struct stat stat_buffer;

	expect(stat(path, &stat_buffer), 0, path);
}

static void stat_missing(const char *path)
{
	struct stat stat_buffer;

	expect(stat(path, &stat_buffer), ENOENT, path);
}

static void open_path(const char *path)
{
	int fd = open(path, O_RDONLY);

	expect(fd, 0, path);
	close(fd);
}

static void call_getppid(void)
{
	syscall(SYS_getppid);
}

static void stat_1(void) { stat_path("FFF"); }
static void stat_2(void) { stat_path(DIR2 "FFF"); }
static void stat_4(void) { stat_path(DIR4 "FFF"); }
static void stat_8(void) { stat_path(DIR8 "FFF"); }
static void stat_missing_1(void) { stat_missing("NNN"); }
static void stat_missing_8(void) { stat_missing(DIR8 "NNN"); }
static void stat_missing_first(void) { stat_missing("NNN/YYY/ZZZ/AAA/BBB/CCC/DDD/FFF"); }
static void stat_dotdot(void) { stat_path("XXX/../XXX/../FFF"); }
static void stat_link_last(void) { stat_path(DIR2 "LINKF"); }
static void stat_link_first(void) { stat_path("LINKD/FFF"); }
static void open_1(void) { open_path("FFF"); }
static void open_4(void) { open_path(DIR4 "FFF"); }
static void open_8(void) { open_path(DIR8 "FFF"); }

static void call_pread(void)
{
	expect((int)pread(file_fd, block, sizeof(block), 0), 0, "pread");
}

static void call_pwrite(void)
{
	expect((int)pwrite(file_fd, block, sizeof(block), 0), 0, "pwrite");
}

static void read_directory(void)
{
	DIR *directory = opendir("HUNDRED");
	int entries = 0;

	if (!directory)
		fail("opendir");
	while (readdir(directory))
		entries++;
	closedir(directory);
	if (entries != 102) {
		fprintf(stderr, "bench: readdir gave %d entries, not 102\n", entries);
		exit(1);
	}
}

static void create_unlink(void)
{
	int fd = open("created", O_CREAT | O_EXCL | O_WRONLY, 0644);

	expect(fd, 0, "create");
	close(fd);
	expect(unlink("created"), 0, "unlink");
}

static void two_renames(void)
{
	expect(rename("FFF", "GGG"), 0, "rename");
	expect(rename("GGG", "FFF"), 0, "rename");
}

static void fork_wait(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	expect(child, 0, "fork");
	expect(waitpid(child, &status, 0), 0, "waitpid");
}

/*
 * From the call of execve() to the parent's having reaped the program: a pipe would cost more
 * than it tells, so the child leaves its time in memory, which vfork() shares.
 */
static uint64_t exec_to_exit(const char *program, char *const argv[])
{
	static volatile uint64_t start;
	int status;
	pid_t child = vfork();

	if (child == 0) {
		start = begin_part();
		execv(program, argv);
		_exit(127);
	}
	expect(child, 0, "vfork");
	expect(waitpid(child, &status, 0), 0, "waitpid");
	if (status)
		fail(program);
	return end_part(start);
}

static uint64_t exec_static(void)
{
	char *const argv[] = {own_path, "--exit", NULL};

	return exec_to_exit(own_path, argv);
}

static uint64_t exec_dynamic(void)
{
	char *const argv[] = {"true", NULL};

	return exec_to_exit(getenv("BENCH_DYNAMIC"), argv);
}

static int pipe_ends[2];

/* A byte through a pipe, both ends in one process. */
static void pipe_byte(void)
{
	expect((int)write(pipe_ends[1], block, 1), 0, "write to the pipe");
	expect((int)read(pipe_ends[0], block, 1), 0, "read from the pipe");
}

/* Two processes hand a byte to and fro; one way is a write, a read and a switch. */
static uint64_t switch_processes(void)
{
	int there[2], back[2], status;
	uint64_t start;
	pid_t child;
	char byte = 0;

	expect(pipe(there), 0, "pipe");
	expect(pipe(back), 0, "pipe");
	child = fork();
	expect(child, 0, "fork");
	if (child == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1)
			if (write(back[1], &byte, 1) != 1)
				break;
		_exit(0);
	}
	expect((int)write(there[1], &byte, 1), 0, "write"); /* the child has run once */
	expect((int)read(back[0], &byte, 1), 0, "read");
	start = begin_part();
	for (int i = 0; i < BATCH / 2; i++) {
		expect((int)write(there[1], &byte, 1), 0, "write");
		expect((int)read(back[0], &byte, 1), 0, "read");
	}
	start = end_part(start);
	close(there[1]);
	expect(waitpid(child, &status, 0), 0, "waitpid");
	close(there[0]);
	close(back[0]);
	close(back[1]);
	return start;
}

static volatile char *map_pages(int flags, int fd)
{
	void *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (pages == MAP_FAILED)
		fail("mmap");
	return pages;
}

/* The first write to each of some pages of anonymous memory. */
static uint64_t fault_anonymous(void)
{
	volatile char *pages = map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint64_t start;

	madvise((void *)pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	start = begin_part();
	for (int i = 0; i < PAGES; i++)
		pages[i * PAGE] = 1;
	start = end_part(start);
	munmap((void *)pages, PAGES * PAGE);
	return start;
}

static int pages_fd;

/*
 * The first read of each of some pages of a file that is in the page cache; many may come with
 * one fault.
 */
static uint64_t fault_file(void)
{
	volatile char *pages = map_pages(MAP_SHARED, pages_fd);
	uint64_t start = begin_part();

	for (int i = 0; i < PAGES; i++)
		(void)pages[i * PAGE];
	start = end_part(start);
	munmap((void *)pages, PAGES * PAGE);
	return start;
}

static void map_unmap(void)
{
	munmap((void *)map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1), PAGES * PAGE);
}

/*
 * Many areas of a page each, which cannot join since their rights alternate, come and go: first
 * every second one, so that the others stand alone.
 */
static uint64_t many_areas(void)
{
	static void *areas[AREAS];
	uint64_t start = begin_part();

	for (int i = 0; i < AREAS; i++) {
		areas[i] = mmap(NULL, PAGE, i & 1 ? PROT_READ : PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (areas[i] == MAP_FAILED)
			fail("mmap");
	}
	for (int odd = 0; odd < 2; odd++)
		for (int i = odd; i < AREAS; i += 2)
			expect(munmap(areas[i], PAGE), 0, "munmap");
	return end_part(start);
}

/* A file of some pages from its begin to its end, a page a call. */
static uint64_t read_on(void)
{
	uint64_t start;

	expect((int)lseek(pages_fd, 0, SEEK_SET), 0, "lseek");
	start = begin_part();
	for (int i = 0; i < PAGES; i++)
		expect((int)read(pages_fd, block, PAGE), 0, "read");
	return end_part(start);
}

/* An empty file grows by a page a call. */
static uint64_t write_on(void)
{
	int fd = open("grows", O_CREAT | O_TRUNC | O_WRONLY, 0644);
	uint64_t start;

	expect(fd, 0, "grows");
	start = begin_part();
	for (int i = 0; i < PAGES; i++)
		expect((int)write(fd, block, PAGE), 0, "write");
	start = end_part(start);
	close(fd);
	return start;
}

static const struct row rows[] = {
	{"getppid", call_getppid, BATCH, NULL},
	{"stat 1", stat_1, BATCH, NULL},
	{"stat 2", stat_2, BATCH, NULL},
	{"stat 4", stat_4, BATCH, NULL},
	{"stat 8", stat_8, BATCH, NULL},
	{"stat missing 1", stat_missing_1, BATCH, NULL},
	{"stat missing 8", stat_missing_8, BATCH, NULL},
	{"stat first of 8 missing", stat_missing_first, BATCH, NULL},
	{"stat dotdot", stat_dotdot, BATCH, NULL},
	{"stat link last", stat_link_last, BATCH, NULL},
	{"stat link first", stat_link_first, BATCH, NULL},
	{"open close 1", open_1, BATCH, NULL},
	{"open close 4", open_4, BATCH, NULL},
	{"open close 8", open_8, BATCH, NULL},
	{"pread 4K", call_pread, BATCH, NULL},
	{"pwrite 4K", call_pwrite, BATCH, NULL},
	{"readdir 100", read_directory, 20, NULL},
	{"create close unlink", create_unlink, BATCH, NULL},
	{"two renames", two_renames, BATCH, NULL},
	{"fork exit wait", fork_wait, 20, NULL},
	{"exec static", NULL, 1, exec_static},
	{"exec dynamic", NULL, 1, exec_dynamic},
	{"context switch", NULL, BATCH, switch_processes},
	{"pipe 1 byte", pipe_byte, BATCH, NULL},
	{"page fault", NULL, PAGES, fault_anonymous},
	{"page fault of a file", NULL, PAGES, fault_file},
	{"mmap munmap", map_unmap, BATCH, NULL},
	{"one of 2000 areas", NULL, AREAS, many_areas},
	{"read 4K on", NULL, PAGES, read_on},
	{"write 4K on", NULL, PAGES, write_on},
};

static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	expect(fd, 0, path);
	if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
		fail(path);
	close(fd);
}

/* mkdir() of every prefix of @path that ends in '/', a file FFF in each. */
static void make_tree(const char *path)
{
	char prefix[128];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(prefix, sizeof(prefix), "%.*s", (int)(slash - path), path);
		if (mkdir(prefix, 0755) && errno != EEXIST)
			fail(prefix);
		snprintf(prefix, sizeof(prefix), "%.*s/FFF", (int)(slash - path), path);
		make_file(prefix);
	}
}

static void set_up(const char *directory)
{
	char name[32];

	if ((mkdir(directory, 0755) && errno != EEXIST) || chdir(directory))
		fail(directory);
	memset(block, 'x', sizeof(block));
	make_file("FFF");
	make_tree(DIR8);
	if ((symlink("../FFF", DIR2 "LINKF") && errno != EEXIST) ||
	    (symlink("XXX", "LINKD") && errno != EEXIST))
		fail("symlink");
	if (mkdir("HUNDRED", 0755) && errno != EEXIST)
		fail("HUNDRED");
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "HUNDRED/file%02d", i);
		make_file(name);
	}
	file_fd = open("FFF", O_RDWR);
	expect(file_fd, 0, "FFF");
	pages_fd = open("PAGES", O_CREAT | O_RDWR, 0644);
	expect(pages_fd, 0, "PAGES");
	for (int i = 0; i < PAGES; i++)
		expect((int)pwrite(pages_fd, block, PAGE, (off_t)i * PAGE), 0, "PAGES");
	expect(pipe(pipe_ends), 0, "pipe");
}

static int wanted(const struct row *row, int argc, char **argv)
{
	if (row->timed == exec_dynamic && !getenv("BENCH_DYNAMIC"))
		return 0;
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], row->name))
			return 1;
	return argc <= 2;
}

static uint64_t time_calls(const struct row *row)
{
	uint64_t start = begin_part();

	for (int i = 0; i < row->batch; i++)
		row->call();
	return end_part(start);
}

/* Runs a row's batches and prints the least of them. */
static void measure(const struct row *row)
{
	uint64_t least = UINT64_MAX;
	unsigned part = 0;

	for (int batch = 0; batch <= BATCHES; batch++) {
		uint64_t taken = row->timed ? row->timed() : time_calls(row);

		if (batch && taken < least) { /* the first only warms up */
			least = taken;
			part = parts - 1;
		}
	}
	printf("{\"row\": \"%s\", \"ticks\": %llu, \"calls\": %d, \"part\": %u}\n", row->name,
	       (unsigned long long)least / row->batch, row->batch, part);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: bench DIRECTORY [ROW...]\n");
		return 2;
	}
	if (!strcmp(argv[1], "--exit")) /* the program of the row "exec static" */
		return 0;
	expect((int)readlink("/proc/self/exe", own_path, sizeof(own_path) - 1), 0, "/proc/self/exe");
	set_up(argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (wanted(&rows[i], argc, argv))
			measure(&rows[i]);
	return 0;
}
