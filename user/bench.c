/*
 * bench - the cost of single system calls, for the table in docs/figures.md.
 *
 * A plain static Linux program: the same binary runs on Chainwalk and on Linux. It reads the
 * time-stamp counter around batches of calls; under QEMU's `-icount shift=0` one tick is one
 * instruction (user and kernel, the loop included), and outside QEMU it is whatever the CPU counts.
 * The least of several batches is printed, so that a timer interrupt or a first miss does not
 * count.
 *
 * Usage: bench DIRECTORY [ROW...]	DIRECTORY is scratch space (on tmpfs for the
 *					table); it is emptied.
 * Output: a line of JSON for each row, {"row": "stat 1", "ticks": 612}.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCHES = 8, BATCH = 200 };

/* The path shapes of Tsai 2015, figure 6. */
#define DIR2 "XXX/"
#define DIR4 "XXX/YYY/ZZZ/"
#define DIR8 "XXX/YYY/ZZZ/AAA/BBB/CCC/DDD/"

struct row {
	const char *name;
	void (*call)(void);
	int batch;
};

static int file_fd;
static char block[4096];

static uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
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

static const struct row rows[] = {
	{"getppid", call_getppid, BATCH},
	{"stat 1", stat_1, BATCH},
	{"stat 2", stat_2, BATCH},
	{"stat 4", stat_4, BATCH},
	{"stat 8", stat_8, BATCH},
	{"stat missing 1", stat_missing_1, BATCH},
	{"stat missing 8", stat_missing_8, BATCH},
	{"stat first of 8 missing", stat_missing_first, BATCH},
	{"stat dotdot", stat_dotdot, BATCH},
	{"stat link last", stat_link_last, BATCH},
	{"stat link first", stat_link_first, BATCH},
	{"open close 1", open_1, BATCH},
	{"open close 4", open_4, BATCH},
	{"open close 8", open_8, BATCH},
	{"pread 4K", call_pread, BATCH},
	{"pwrite 4K", call_pwrite, BATCH},
	{"readdir 100", read_directory, 20},
	{"create close unlink", create_unlink, BATCH},
	{"two renames", two_renames, BATCH},
	{"fork exit wait", fork_wait, 20},
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
}

static int wanted(const struct row *row, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], row->name))
			return 1;
	return argc <= 2;
}

static uint64_t measure(const struct row *row)
{
	uint64_t least = UINT64_MAX;

	row->call();
	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t start = ticks();

		for (int i = 0; i < row->batch; i++)
			row->call();
		start = ticks() - start;
		if (start < least)
			least = start;
	}
	return least / row->batch;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: bench DIRECTORY [ROW...]\n");
		return 2;
	}
	set_up(argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (wanted(&rows[i], argc, argv))
			printf("{\"row\": \"%s\", \"ticks\": %llu}\n", rows[i].name,
			       (unsigned long long)measure(&rows[i]));
	return 0;
}
