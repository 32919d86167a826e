/*
 * rights.c - what an ordinary user must not get by being quick: a set-user-id program is run again
 * and again, while others of the user who started it look into it.
 *
 *	rights maps PROGRAM	run it, a set-id copy of this: "maps: ok", or what was seen
 *	rights kept PROGRAM	a file of its environment, opened before it began, is read by it and then by
 *				others: "kept: ok", or what they got
 *	rights wait		what the copy does: nothing, for a moment
 *	rights read		or: it reads a byte of its input
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define READS 4000 /* of maps, before we believe that none is of the set-id program */
#define WATCHERS 2
#define TOLD 30 /* a descriptor of the set-id program's */
#define OLD_MEMORY (16 << 20) /* of the program that goes: to let go of it takes a while */

struct shared {
	volatile pid_t target;
	volatile int done, seen, reads;
};
static struct shared *shared;

/* Read the maps of whoever is the target: those of a set-id program are not for us. */
static void watch(const char *program)
{
	char name[64], text[4096];

	while (!shared->done) {
		ssize_t n = 0;

		snprintf(name, sizeof(name), "/proc/%d/maps", shared->target);
		int fd = open(name, O_RDONLY);
		if (fd >= 0)
			n = read(fd, text, sizeof(text) - 1);
		close(fd);
		__atomic_add_fetch(&shared->reads, n > 0, __ATOMIC_RELAXED);
		text[n > 0 ? n : 0] = 0;
		if (strstr(text, program))
			__atomic_add_fetch(&shared->seen, 1, __ATOMIC_RELAXED);
	}
	_exit(0);
}

static int maps(const char *program)
{
	int status;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared->target = getpid();
	for (int i = 0; i < WATCHERS; i++)
		if (!fork())
			watch(program);
	while (shared->reads < READS) {
		pid_t child = fork();

		if (!child) {
			memset(malloc(OLD_MEMORY), 1, OLD_MEMORY);
			shared->target = getpid();
			execl(program, program, "wait", NULL);
			_exit(1);
		}
		waitpid(child, &status, 0);
		if (status) {
			printf("maps: %s ends with %#x\n", program, status);
			shared->seen++;
			break;
		}
	}
	shared->done = 1;
	while (wait(NULL) > 0)
		;
	bool wrong = shared->seen;

	printf("maps: %s: %d reads, %d of the set-id program's\n", wrong ? "WRONG" : "ok",
	       shared->reads, shared->seen);
	return wrong;
}

static int kept(char *program)
{
	char *arguments[] = {program, "read", NULL}, *environment[] = {"SECRET=told", NULL};
	int ready[2], told[2], status;
	char text[64] = "";

	if (pipe(ready) || pipe(told))
		return 1;
	pid_t child = fork();

	if (!child) {
		char name[64];
		int fd = open("/proc/self/environ", O_RDONLY);

		snprintf(name, sizeof(name), "/proc/%d/environ", getpid());
		if (!fork()) { /* once the program has read: it has the writing end until it ends */
			close(ready[1]);
			(void)!read(ready[0], text, 1);
			ssize_t n = pread(fd, text, sizeof(text) - 1, 1);

			printf("kept: %s: %zd bytes of %s\n", n > 0 ? "WRONG" : "ok", n, name);
			fflush(stdout);
			_exit(n > 0);
		}
		close(told[1]);
		dup2(fd, 0);
		dup2(ready[1], 1);
		dup2(told[0], TOLD);
		execve(program, arguments, environment);
		_exit(1);
	}
	close(ready[1]);
	close(told[1]);
	waitpid(child, &status, 0);
	return status;
}

int main(int count, char **arguments)
{
	char byte;

	if (count == 3 && (!strcmp(arguments[1], "maps") || !strcmp(arguments[1], "kept"))) {
		if (geteuid() == 0) { /* who has been root cannot be looked into: begin anew */
			if (setgid(1000) || setuid(1000))
				return 1;
			execv(arguments[0], arguments);
		}
		return strcmp(arguments[1], "maps") ? kept(arguments[2]) : maps(arguments[2]);
	}
	if (count == 2 && !strcmp(arguments[1], "read")) {
		(void)!read(0, &byte, 1);
		(void)!write(1, "r", 1);
		(void)!read(TOLD, &byte, 1); /* ends when the other one has said what it got */
		return 0;
	}
	return count == 2 && !strcmp(arguments[1], "wait") && geteuid() == 0 ? 0 : 2;
}
