/*
 * memory.c - using up the machine's memory by other ways than plain pages: what the kernel itself
 * allocates for a program. Each way ends in an error or in the end of the program, never in the kernel's.
 */
#include "hostile.h"

#include <limits.h>

static void report(const char *what, long count)
{
	printf("    %s: %ld, then %s\n", what, count, strerror(errno));
	_exit(errno == ENOMEM || errno == EMFILE || errno == ENFILE || errno == ENOSPC || errno == EAGAIN || errno == E2BIG
		      ? 0
		      : 1);
}

static void fill_pipes(void)
{
	static char page[65536];
	long pipes = 0;
	int fds[2];

	for (;; pipes++) {
		if (pipe2(fds, O_NONBLOCK))
			report("pipes", pipes);
		if (write(fds[1], page, sizeof(page)) < 0 && errno != EAGAIN)
			report("full pipes", pipes);
	}
}

static void fill_many_pipes(void)
{
	struct rlimit limit = {4096, 4096};

	setrlimit(RLIMIT_NOFILE, &limit);
	fill_pipes();
}

/* One page each 2 MB: the page tables are as large as the pages. */
static void touch_sparsely(void)
{
	for (long i = 0;; i++) {
		char *piece = mmap(NULL, 1L << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (piece == MAP_FAILED)
			report("gigabytes", i);
		for (long at = 0; at < 1L << 30; at += 1 << 21)
			piece[at] = 1;
	}
}

static void make_areas(void)
{
	for (long i = 0; i < 20000; i++)
		if (mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			report("areas", i);
}

static void fill_tmpfs(void)
{
	static char piece[1 << 16];
	int fd = open("/tmp/hog", O_CREAT | O_WRONLY | O_TRUNC, 0600);

	memset(piece, 1, sizeof(piece));
	for (long i = 0;; i++)
		if (write(fd, piece, sizeof(piece)) < 0)
			report("pieces of a file", i);
}

static void make_names(void)
{
	char name[64];

	mkdir("/tmp/names", 0755);
	for (long i = 0;; i++) {
		snprintf(name, sizeof(name), "/tmp/names/%ld-and-a-name-that-is-longer", i);
		if (mkdir(name, 0755))
			report("directories", i);
	}
}

static void map_shared(void)
{
	for (long i = 0;; i++) {
		char *piece = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (piece == MAP_FAILED)
			report("shared megabytes", i);
		for (long at = 0; at < 1 << 20; at += 4096)
			piece[at] = 1;
	}
}

static void long_arguments(void)
{
	static char text[100000];
	char *argv[400];

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 399; i++)
		argv[i] = text;
	argv[399] = NULL;
	execv("/proc/self/exe", argv);
	report("long arguments", 399);
}

static void remove_names(const char *folder)
{
	char name[64];

	for (long i = 0;; i++) {
		snprintf(name, sizeof(name), "%s/%ld-and-a-name-that-is-longer", folder, i);
		if (rmdir(name))
			break;
	}
	rmdir(folder);
}

/* Texts of half a megabyte that are begun and never read to their end: 300 MB in a machine of 64. None of them costs the
 * program its life, and each goes on where it was read to. */
static void keep_texts(void)
{
	enum { AREAS = 8000, TEXTS = 600, PIECE = 4096 };
	static char first[PIECE], later[PIECE];
	int fds[TEXTS];

	for (int i = 0; i < AREAS; i++)
		if (mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			_exit(1);
	for (int i = 0; i < TEXTS; i++) {
		fds[i] = open("/proc/self/maps", O_RDONLY);
		if (fds[i] < 0 || read(fds[i], first, PIECE) != PIECE)
			_exit(2);
	}
	for (int i = 0; i < TEXTS; i += 20) {
		int anew = open("/proc/self/maps", O_RDONLY);

		if (pread(anew, first, PIECE, PIECE) != PIECE || read(fds[i], later, PIECE) != PIECE ||
		    memcmp(first, later, PIECE))
			_exit(3);
		close(anew);
	}
	_exit(0);
}

static void nothing(void)
{
	char *argv[] = {"hostile", "no-such-part", NULL};

	execv("/proc/self/exe", argv);
	_exit(9);
}

void test_hogs(void)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} hogs[] = {
		{"pipes", fill_pipes}, {"many pipes", fill_many_pipes}, {"sparse pages", touch_sparsely},
		{"areas", make_areas}, {"a file in memory", fill_tmpfs}, {"names", make_names},
		{"shared memory", map_shared}, {"arguments", long_arguments},
	};

	for (size_t i = 0; i < sizeof(hogs) / sizeof(hogs[0]); i++) {
		int status = in_child(hogs[i].function);

		check(WIFEXITED(status) ? !WEXITSTATUS(status) : WTERMSIG(status) == SIGKILL, hogs[i].name, status);
		if (WIFSIGNALED(status))
			printf("    %s: ended by signal %d\n", hogs[i].name, WTERMSIG(status));
		unlink("/tmp/hog");
		remove_names("/tmp/names");
		status = in_child(nothing);
		check(!status, "a program after it", status);
	}
	int status = in_child(keep_texts);

	check(!status, "texts of /proc", status);
}
