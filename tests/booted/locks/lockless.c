/*
 * lockless.c - walks against all that changes under them, on several CPUs.
 *
 *   lockless FOLDER SECONDS
 *
 * Three look: for a name that always exists, for one in a directory that all may search but when it
 * is private, which is when the name is there, and, by descriptor, for one below a directory that is
 * renamed. Three change: names beside and above, the private directory, what is mounted. Prints
 * "lockless: ok" and how much was done, or what went wrong.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STRANGER 1000
#define RENAME_EXCHANGE 2

static volatile unsigned long *done; /* by each of the processes, shared */

static void fail(const char *what)
{
	printf("lockless: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

static void must(int result, const char *what)
{
	if (result < 0)
		fail(what);
}

static void make_file(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);

	must(fd, name);
	close(fd);
}

/* ---- who looks --------------------------------------------------------------------------------- */

static void look_for_what_is(void)
{
	struct stat stat_;
	int fd;

	must(stat("keep/a/b/file", &stat_), "a name that always exists");
	must(fd = open("keep/a/../a/b/./file", O_RDONLY), "a file that always exists");
	close(fd);
	must(stat("either/file", &stat_), "a name in either of two directories");
}

static void look_for_what_is_forbidden(void)
{
	struct stat stat_;

	if (geteuid() == 0 && (setresgid(STRANGER, STRANGER, STRANGER) ||
			       setresuid(STRANGER, STRANGER, STRANGER)))
		fail("setresuid");
	if (stat("private/secret", &stat_) == 0)
		fail("what is private was reached");
	if (errno != EACCES && errno != ENOENT)
		fail("what is private");
}

static int directory; /* "below", open since before it was moved */

static void look_from_below(void)
{
	struct stat stat_;

	must(fstatat(directory, "file", &stat_, 0), "a name below what is moved");
	must(fstatat(directory, "../below/file", &stat_, 0), "the same by way of what is moved");
}

/* ---- who changes ------------------------------------------------------------------------------- */

static void exchange(void)
{
	static unsigned turn;
	char from[32], to[32];

	must((int)syscall(SYS_renameat2, AT_FDCWD, "either", AT_FDCWD, "other", RENAME_EXCHANGE),
	     "exchange");
	snprintf(from, sizeof(from), "keep/a/beside%u", turn % 8);
	snprintf(to, sizeof(to), "keep/a/b/beside%u", turn++ % 8);
	make_file(from);
	must(rename(from, to), "rename");
	must(unlink(to), "unlink");
}

static void make_private(void)
{
	must(mkdir("private", 0755), "mkdir");
	must(rmdir("private"), "rmdir");
	must(mkdir("private", 0700), "mkdir");
	make_file("private/secret");
	must(unlink("private/secret"), "unlink");
	must(rmdir("private"), "rmdir");
}

static void move_and_mount(void)
{
	static unsigned turn;
	const char *from = turn % 2 ? "moved1" : "moved0", *to = turn % 2 ? "moved0" : "moved1";

	must(rename(from, to), "rename of a directory");
	if (turn++ % 16 == 0) {
		must(mount("none", "over", "tmpfs", 0, "mode=755"), "mount");
		make_file("over/file");
		must(umount2("over", MNT_DETACH), "umount");
	}
	if (turn % 64 == 0)
		sync();
}

static const struct {
	void (*work)(void);
	const char *name;
} workers[] = {
	{look_for_what_is, "what is"},	 {look_for_what_is_forbidden, "forbidden"},
	{look_from_below, "from below"}, {exchange, "exchanges"},
	{make_private, "private"},	 {move_and_mount, "moves"},
};
#define WORKERS (sizeof(workers) / sizeof(*workers))

static void set_up(const char *folder)
{
	static const char *const directories[] = {"keep",  "keep/a", "keep/a/b",	   "either",
						  "other", "moved0", "moved0/below", "over"};

	must(chdir(folder), folder);
	for (unsigned i = 0; i < sizeof(directories) / sizeof(*directories); i++)
		must(mkdir(directories[i], 0755), directories[i]);
	make_file("keep/a/b/file");
	make_file("either/file");
	make_file("other/file");
	make_file("moved0/below/file");
	must(directory = open("moved0/below", O_RDONLY | O_DIRECTORY), "moved0/below");
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

int main(int argc, char **argv)
{
	pid_t children[WORKERS];
	int status, result = 0;

	if (argc != 3)
		return 2;
	set_up(argv[1]);
	done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < WORKERS; i++) {
		children[i] = fork();
		must(children[i], "fork");
		if (!children[i])
			for (;;) {
				workers[i].work();
				done[i]++;
			}
	}
	for (time_t end = now() + atoi(argv[2]); now() < end && !result; usleep(100000))
		result = waitpid(-1, &status, WNOHANG) != 0; /* nobody ends by himself */
	for (unsigned i = 0; i < WORKERS; i++)
		kill(children[i], SIGKILL);
	while (wait(&status) > 0)
		;
	for (unsigned i = 0; i < WORKERS; i++) {
		printf("%s %lu\n", workers[i].name, done[i]);
		result |= done[i] == 0;
	}
	printf(result ? "lockless: failed\n" : "lockless: ok\n");
	return result;
}
