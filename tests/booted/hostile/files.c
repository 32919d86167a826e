/*
 * files.c - an ordinary user's files at their worst: very many in one directory, trees very
 * deep, the longest names, links that lead to themselves, mapped files that are cut under their
 * readers, and a signal at every moment of a call. SIZE= in the environment makes them larger.
 */
#include "hostile.h"

#include <dirent.h>
#include <grp.h>

#define PLACE "/hostile.d"

static long size_or(long usual)
{
	const char *text = getenv("SIZE");

	return text ? atol(text) : usual;
}

/* Run @function in a child, as a user, in a directory of the root file system. */
static void as_user(void (*function)(void), const char *what)
{
	pid_t pid;
	int status;

	mkdir(PLACE, 0777);
	chmod(PLACE, 0777);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(3000);
		wrong = 0;
		if (chdir(PLACE) || setgroups(0, NULL) || setgid(1000) || setuid(1000))
			_exit(2);
		function();
		fflush(stdout);
		_exit(wrong ? 1 : 0);
	}
	check(waitpid(pid, &status, 0) == pid && !status, what, status);
	check(!rmdir(PLACE), "nothing is left", errno);
}

/* ---- very many entries ---------------------------------------------------------------------------- */

static long count_entries(const char *name)
{
	DIR *dir = opendir(name);
	long count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count - 2;
}

static void fill_directory(void)
{
	long count = size_or(12000), made, gone = 0;
	struct stat st;
	char name[32];

	check(!mkdir("many", 0755) && !chdir("many"), "a directory", errno);
	for (made = 0; made < count; made++) {
		int fd;

		snprintf(name, sizeof(name), "%ld", made);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
		if (fd < 0)
			break;
		close(fd);
	}
	check(made == count || errno == ENOSPC, "files in one directory", errno);
	check(count_entries(".") == made, "entries that are listed", made);
	for (long i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "%ld", (long)(next_random() % (uint64_t)(made * 2)));
		check(!stat(name, &st) == (atol(name) < made), "one of them", atol(name));
	}
	for (long i = 0; i < made; i++) {
		snprintf(name, sizeof(name), "%ld", i);
		gone += !unlink(name);
	}
	check(gone == made && count_entries(".") == 0, "all of them removed", gone);
	check(!chdir("..") && !rmdir("many"), "the directory, too", errno);
}

void test_entries(void)
{
	as_user(fill_directory, "very many entries");
}

/* ---- a tree that is very deep ------------------------------------------------------------------------ */

static void go_deep(void)
{
	long depth, wanted = size_or(2000);
	char name[256], where[8192];

	memset(name, 'd', sizeof(name) - 1);
	name[255] = 0;
	for (depth = 0; depth < wanted; depth++)
		if (mkdir(name, 0755) || chdir(name))
			break;
	check(depth == wanted || errno == ENOSPC, "a tree of 255-byte names", depth);
	check(syscall(SYS_getcwd, where, 4096) == -1 && (errno == ERANGE || errno == ENAMETOOLONG), "where it ends",
	      errno);
	check(access("../../..", F_OK) == 0 && access("x/../..", F_OK) == -1, "the way back", errno);
	/* the whole of it moves while somebody stands in it, and not into itself */
	check(rename(name, "x") == -1 && errno == ENOENT, "what is not there", errno);
	while (depth-- > 0)
		if (chdir("..") || rmdir(name))
			break;
	check(depth == -1, "up again", depth);
}

void test_deep(void)
{
	as_user(go_deep, "a very deep tree");
}

/* ---- names and links ----------------------------------------------------------------------------------- */

static void fill_with_long_names(void)
{
	char name[258], other[256];
	int made = 0;

	memset(name, 'n', sizeof(name));
	name[255] = 0;
	for (int i = 0; i < 600; i++, made++) {
		sprintf(name + 250, "%05u", (unsigned)i % 100000);
		if (symlink(name, name))
			break;
	}
	check(made == 600, "names of 255 bytes", errno);
	check(count_entries(".") == made, "entries of 255 bytes", made);
	check(open(name, O_RDONLY) == -1 && errno == ELOOP, "a link to itself", errno);
	check(readlink(name, other, sizeof(other)) == 255, "its text", errno);
	check(rename(name, "short") == 0 && rename("short", name) == 0, "renamed to and fro", errno);
	for (int i = 0; i < made; i++) {
		sprintf(name + 250, "%05u", (unsigned)i % 100000);
		unlink(name);
	}
	name[255] = 'n';
	name[256] = 0;
	check(mkdir(name, 0755) == -1 && errno == ENAMETOOLONG, "a name of 256", errno);
}

static void link_in_circles(void)
{
	char name[32], target[64];
	struct stat st;

	check(!symlink("b/x", "a") && !symlink("a/y", "b"), "two links to each other", errno);
	check(stat("a", &st) == -1 && errno == ELOOP, "through both", errno);
	check(stat("a/../b/z", &st) == -1 && errno == ELOOP, "and further", errno);
	check(mkdir("a/q", 0755) == -1 && errno == ELOOP, "making something there", errno);
	check(rename("a/q", "c") == -1 && errno == ELOOP, "renaming from there", errno);
	check(!mkdir("d", 0755) && !symlink("../d", "d/up"), "a link to the directory it is in", errno);
	check(!stat("d/up/up/up/up/up/up/up/up/up/up", &st), "ten times round", errno);
	for (int i = 0; i < 41; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		snprintf(target, sizeof(target), i ? "l%d" : "d", i - 1);
		check(!symlink(target, name), "a chain", i);
	}
	check(!stat("l39", &st), "forty links", errno);
	check(stat("l40", &st) == -1 && errno == ELOOP, "forty-one", errno);
	for (int i = 0; i < 41; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		unlink(name);
	}
	check(!unlink("a") && !unlink("b") && !unlink("d/up") && !rmdir("d"), "removing them", errno);
}

void test_links(void)
{
	as_user(fill_with_long_names, "names");
	as_user(link_in_circles, "links");
}

/* ---- mapped files cut under their readers ----------------------------------------------------------------- */

#define MAPPED_PAGES 16

static volatile bool cut_enough;
static __thread sigjmp_buf resume;
static int mapped_fd;
static char *mapped;

static void after_fault(int signo)
{
	siglongjmp(resume, signo);
}

static void *read_mapped(void *argument)
{
	volatile long faults = 0, sum = 0;

	if (sigsetjmp(resume, 1))
		faults++;
	while (!cut_enough)
		for (long at = 0; at < MAPPED_PAGES * 4096L && !cut_enough; at += 512) {
			if ((long)argument % 2)
				sum += mapped[at];
			else
				mapped[at] = 'w';
		}
	return (void *)faults;
}

static void *read_by_call(void *argument)
{
	char piece[5000];
	long strange = 0;

	while (!cut_enough)
		for (off_t at = 0; at < MAPPED_PAGES * 4096L; at += 5000) {
			ssize_t n = pread(mapped_fd, piece, sizeof(piece), at);

			/* what others write, what was written at first, or a hole: nothing else */
			for (ssize_t i = 0; i < n; i++)
				strange += piece[i] != 0 && piece[i] != 'w' && piece[i] != 'f';
			strange += n < 0;
		}
	(void)argument;
	return (void *)strange;
}

static void cut_mapped(void)
{
	struct sigaction action = {.sa_handler = after_fault, .sa_flags = SA_NODEFER};
	static char text[MAPPED_PAGES * 4096];
	pthread_t threads[4];
	void *result;
	long cuts = size_or(400);

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	memset(text, 'f', sizeof(text));
	mapped_fd = open("mapped", O_CREAT | O_RDWR, 0644);
	check(write(mapped_fd, text, sizeof(text)) == sizeof(text), "a file", errno);
	mapped = mmap(NULL, sizeof(text), PROT_READ | PROT_WRITE, MAP_SHARED, mapped_fd, 0);
	check(mapped != MAP_FAILED, "its mapping", errno);
	for (long i = 0; i < 4; i++)
		check(!pthread_create(&threads[i], NULL, i < 3 ? read_mapped : read_by_call, (void *)i), "a thread", i);
	for (long i = 0; i < cuts; i++) {
		check(!ftruncate(mapped_fd, (off_t)(next_random() % sizeof(text))), "a cut", errno);
		if (i % 3 == 0)
			check(pwrite(mapped_fd, text, sizeof(text), 0) == sizeof(text), "all of it again", errno);
		else
			check(!ftruncate(mapped_fd, sizeof(text)), "a hole instead", errno);
		if (i % 16 == 0)
			sched_yield();
	}
	cut_enough = true;
	for (int i = 0; i < 4; i++) {
		check(!pthread_join(threads[i], &result), "its end", i);
		check(i < 3 || !result, "bytes that nobody wrote", (long)result);
	}
	/* Behind a cut there are zeros, whatever was mapped. */
	check(!ftruncate(mapped_fd, 100) && !ftruncate(mapped_fd, 8192), "the last cut", errno);
	check(pread(mapped_fd, text, 8192, 0) == 8192, "reading it", errno);
	for (int i = 100; i < 8192; i++)
		check(text[i] == 0 && mapped[i] == 0, "a zero", i);
	check(!unlink("mapped"), "removing it", errno);
}

void test_cuts(void)
{
	as_user(cut_mapped, "cuts");
}

/* ---- a signal at every moment ------------------------------------------------------------------------------ */

static volatile int signals_taken;

static void take(int signo)
{
	(void)signo;
	signals_taken++;
}

/* One of each kind of call; what it returns is its own result or that it was interrupted, and what it
 * did it did wholly or not at all. */
static void call_each(long round)
{
	char got[200] = "", text[200];
	int fds[2], status, fd;
	ssize_t n;
	pid_t pid;

	memset(text, 'a' + (int)(round % 26), sizeof(text));
	while ((fd = open("moment", O_CREAT | O_RDWR | O_TRUNC, 0644)) < 0)
		check(errno == EINTR, "open", errno);
	check(write(fd, text, sizeof(text)) == sizeof(text), "write to a file is never cut short", errno);
	check(pread(fd, got, sizeof(got), 0) == sizeof(got) && !memcmp(got, text, sizeof(got)), "read", errno);
	close(fd);
	check(!rename("moment", "moment2") && access("moment", F_OK) && !unlink("moment2"), "rename", errno);
	check(!mkdir("place", 0755) && !rmdir("place"), "mkdir", errno);
	check(!pipe(fds), "pipe", errno);
	pid = fork();
	if (!pid) {
		for (size_t done = 0; done < sizeof(text); done += n > 0 ? (size_t)n : 0)
			n = write(fds[1], text + done, sizeof(text) - done);
		_exit((int)(round & 63));
	}
	check(pid > 0, "fork", errno);
	close(fds[1]);
	for (size_t done = 0; done < sizeof(got);) {
		n = read(fds[0], got + done, sizeof(got) - done);
		check(n > 0 || (n < 0 && errno == EINTR), "read from a pipe", errno);
		if (n == 0)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	check(!memcmp(got, text, sizeof(got)), "what came through", round);
	close(fds[0]);
	while (waitpid(pid, &status, 0) != pid)
		check(errno == EINTR, "waitpid", errno);
	check(WIFEXITED(status) && WEXITSTATUS(status) == (round & 63), "its status", status);
}

/* The signal comes a little later in each round, so that it meets each instruction's neighbourhood. */
static void signal_each_moment(void)
{
	struct sigaction action = {.sa_handler = take};
	struct timespec before, after;
	long rounds = size_or(300), round_us;

	call_each(0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	call_each(0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	round_us = (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000 + 1;
	for (long i = 0; i < rounds; i++) {
		struct itimerval when = {.it_value = {0, 1 + i * round_us / rounds % 900000}};

		action.sa_flags = i % 2 ? SA_RESTART : 0;
		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &when, NULL);
		call_each(i);
	}
	check(signals_taken > rounds / 30, "signals", signals_taken);
}

void test_moments(void)
{
	as_user(signal_each_moment, "moments");
}
