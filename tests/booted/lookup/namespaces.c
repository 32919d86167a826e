/*
 * namespaces.c - processes in mount namespaces of their own look up the same texts, in turns and
 * then all at once, and find what is mounted for them. Usage: namespaces DIRECTORY ROUNDS; prints
 * "done", or what was wrong, and kills its process group.
 *
 * Each has a tmpfs at DIRECTORY/place, in which directories, files and a link have the same names
 * as the others'. One stands in the first namespace, where nothing is mounted: what is below the
 * others'.
 *
 * namespaces DIRECTORY ROUNDS removed: one in the first namespace makes, moves and removes
 * directories, on which the others, in their own, mount what they can.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 4 /* the last one makes namespaces and lets them go */
#define WRONG(...) (printf("WRONG: " __VA_ARGS__), putchar('\n'), kill(0, SIGKILL))

static int turns[PROCESSES][2]; /* who is to go on reads a byte */
static int finished[2], end[2]; /* a byte of each that has; and closed when all have */
static int others;		/* a directory in the namespace of process 0 */

static void must(bool done, const char *what)
{
	if (!done)
		WRONG("%s: %s", what, strerror(errno));
}

static void make_file(const char *name, int text)
{
	char byte = (char)('0' + text);
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	must(fd >= 0 && write(fd, &byte, 1) == 1, name);
	close(fd);
}

/* What @name from @dfd says must be @wanted's; -1: it must not be there. */
static void look(int self, int dfd, const char *name, int wanted)
{
	int fd = openat(dfd, name, O_RDONLY), found = -1;
	char byte;

	if (fd < 0 && errno != ENOENT)
		WRONG("%d: %s: %s", self, name, strerror(errno));
	if (fd >= 0 && read(fd, &byte, 1) == 1)
		found = byte - '0';
	close(fd);
	if (found != wanted)
		WRONG("%d looked for %s and found %d", self, name, found);
}

static void make_place(int self)
{
	char name[64];

	must(!mkdir("place/directory", 0755) && !mkdir("place/directory/inner", 0755), "mkdir");
	make_file("place/directory/inner/file", self);
	snprintf(name, sizeof(name), "place/directory/inner/only-of-%d", self);
	make_file(name, self);
}

static void look_around(int self, const char *top)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/place/directory/inner/file", top);
	look(self, AT_FDCWD, name, self);
	look(self, AT_FDCWD, "place/directory/inner/file", self);
	look(self, AT_FDCWD, "place/directory/../directory/./inner/file", self);
	look(self, AT_FDCWD, "link-to-the-file-of-whoever-looks", self);
	for (int other = 0; other < PROCESSES - 1; other++) {
		snprintf(name, sizeof(name), "place/directory/inner/only-of-%d", other);
		look(self, AT_FDCWD, name, other == self ? self : -1);
	}
	/* from a directory of 0's namespace: what is there, but absolute links lead by one's own
	 * root */
	look(self, others, "place/directory/inner/file", 0);
	look(self, others, "link-to-the-file-of-whoever-looks", self);
}

/* Look around when it is one's turn: the processes 0, 1, 2, 0 ... */
static void in_turns(int self, const char *top, int rounds)
{
	char byte;

	for (int round = 0; round < rounds; round++) {
		must(read(turns[self][0], &byte, 1) == 1, "read");
		look_around(self, top);
		must(write(turns[(self + 1) % (PROCESSES - 1)][1], "", 1) == 1, "write");
	}
}

/* Namespaces come and go, with mounts that nobody takes off. */
static void come_and_go(int rounds)
{
	for (int round = 0; round < rounds; round++) {
		must(!unshare(CLONE_NEWNS), "unshare");
		must(!mount("none", "place", "tmpfs", 0, NULL), "mount");
		make_place(PROCESSES - 1);
		must(!mount("none", "place/directory", "tmpfs", 0, NULL), "mount");
		look(PROCESSES - 1, AT_FDCWD, "place/directory/inner/file", -1);
	}
}

static void run(int self, const char *top, int rounds)
{
	char byte;

	if (self == PROCESSES - 1) {
		come_and_go(rounds / 10);
		write(finished[1], "", 1);
		exit(0);
	}
	in_turns(self, top, rounds);
	for (int round = 0; round < rounds; round++)
		look_around(self, top);
	write(finished[1], "", 1);
	read(end[0], &byte, 1); /* what is mounted for 0 stays until all have seen it */
	exit(0);
}

/* In the first namespace nothing is ever mounted: so no name in it is busy. */
static void make_and_remove(int rounds)
{
	for (int round = 0; round < rounds; round++) {
		must(!mkdir("a", 0755) && !mkdir("b", 0755), "mkdir");
		must(!mkdir("a/inner", 0755), "mkdir a/inner");
		must(!rename("a", "c"), "rename a c");
		must(!rmdir("c/inner"), "rmdir c/inner");
		must(!rename("c", "b"), "rename c b");
		must(!rmdir("b"), "rmdir b");
	}
}

/* What is there one moment may be gone or elsewhere the next. */
static void mount_what_is_there(int self, int rounds)
{
	static const char *const names[] = {"a", "b", "c", "a/inner", "c/inner"};

	for (int round = 0; round < rounds; round++) {
		const char *name = names[(round + self) % 5];

		if (round % 40 == 0)
			must(!unshare(CLONE_NEWNS), "unshare");
		if (mount("none", name, "tmpfs", 0, NULL) && errno != ENOENT &&
		    errno != EINVAL) /* it led to a mount that was taken off meanwhile */
			WRONG("%d: mount %s: %s", self, name, strerror(errno));
		if (round % 3 && umount2(name, round % 2 ? MNT_DETACH : 0) && errno != ENOENT &&
		    errno != EINVAL && errno != EBUSY)
			WRONG("%d: umount %s: %s", self, name, strerror(errno));
	}
}

static int remove_under_mounts(int rounds)
{
	for (int self = 0; self < PROCESSES; self++) {
		if (fork())
			continue;
		if (self == 0)
			make_and_remove(rounds);
		else
			mount_what_is_there(self, 6 * rounds);
		exit(0);
	}
	while (wait(NULL) > 0)
		continue;
	puts("done");
	return 0;
}

int main(int argc, char **argv)
{
	const char *top = argv[1];
	int rounds = argc > 2 ? atoi(argv[2]) : 100, ready[2], go[PROCESSES][2];
	char name[PATH_MAX], byte;
	pid_t first = 0; /* the process 0 */

	must(!mkdir(top, 0755) && !chdir(top), top);
	if (argc > 3)
		return remove_under_mounts(rounds);
	must(!mkdir("place", 0755), "mkdir place");
	snprintf(name, sizeof(name), "%s/place/directory/inner/file", top);
	must(!symlink(name, "link-to-the-file-of-whoever-looks"), "symlink");
	setvbuf(stdout, NULL, _IONBF, 0);
	pipe(ready);
	pipe(finished);
	pipe(end);
	for (int self = 0; self < PROCESSES; self++) {
		pipe(turns[self]);
		pipe(go[self]);
	}
	for (int self = 0; self < PROCESSES; self++) {
		pid_t pid = fork();

		if (pid == 0) {
			close(end[1]);
			if (self < 2) {
				must(!unshare(CLONE_NEWNS), "unshare");
				must(!mount("none", "place", "tmpfs", 0, NULL), "mount");
			}
			if (self < PROCESSES - 1)
				make_place(self);
			must(write(ready[1], "", 1) == 1 && read(go[self][0], &byte, 1) == 1, "go");
			snprintf(name, sizeof(name), "/proc/%d/root%s", first ? first : getpid(),
				 top);
			others = open(name, O_RDONLY | O_DIRECTORY);
			must(others >= 0, name);
			run(self, top, rounds);
		}
		first = first ? first : pid;
		must(read(ready[0], &byte, 1) == 1, "ready");
	}
	for (int self = 0; self < PROCESSES; self++)
		write(go[self][1], "", 1);
	write(turns[0][1], "", 1);
	for (int self = 0; self < PROCESSES; self++)
		read(finished[0], &byte, 1);
	close(end[1]);
	while (wait(NULL) > 0)
		continue;
	puts("done");
	return 0;
}
