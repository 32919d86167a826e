/*
 * taken.c - how much of the kernel's memory a user can take: by pipes that he fills, and by
 * symbolic links of a tmpfs.
 *
 * "pipes": processes of a user without privileges fill all pipes that they can have, and stay;
 * another's pipe works meanwhile, if slowly, and holds all again once they are gone. "links": links
 * of the longest targets until one is refused. Prints what must be so, and nothing of how much.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOLDERS 6
#define PIPES 300
#define PIPE_BYTES 65536

static char bytes[PIPE_BYTES];

static long free_share(void) /* of memory, percent */
{
	struct sysinfo info;

	sysinfo(&info);
	return (long)(info.freeram * 100 / info.totalram);
}

/* Bytes that one new pipe takes before a writer would have to wait. */
static long fill(int ends[2])
{
	long total = 0, n;

	if (pipe2(ends, O_NONBLOCK))
		return -1;
	while ((n = write(ends[1], bytes, sizeof(bytes))) > 0)
		total += n;
	return total;
}

static pid_t holder(void)
{
	int ready[2], ends[2];
	char byte = 0;

	pipe(ready);
	pid_t child = fork();
	if (!child) {
		setresuid(1000, 1000, 1000);
		for (int i = 0; i < PIPES; i++)
			fill(ends);
		write(ready[1], &byte, 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	read(ready[0], &byte, 1);
	close(ready[0]);
	return child;
}

static void pipes(void)
{
	pid_t holders[HOLDERS];
	int ends[2] = {-1, -1}, left = 0;
	char small[4096];

	for (int i = 0; i < HOLDERS; i++)
		holders[i] = holder();
	printf("free: %s\n", free_share() >= 25 ? "a fourth or more" : "less than a fourth");
	for (int i = 0; i < HOLDERS; i++)
		left += waitpid(holders[i], NULL, WNOHANG) == 0;
	printf("holders: %s\n", left == HOLDERS ? "all live" : "some are gone");
	setresuid(0, 1001, 0);
	printf("a new pipe takes %ld\n", fill(ends));
	for (int i = 0; i < 3; i++) {
		read(ends[0], small, 1000);
		printf("a short write: %zd", write(ends[1], small, 4096));
		read(ends[0], small, 3096);
		printf(", then %zd\n", write(ends[1], small, 4096));
	}
	read(ends[0], small, 4096);
	printf("of 2000 and 4096 bytes: %zd", write(ends[1], small, 2000));
	printf(", %zd\n", write(ends[1], small, 4096)); /* whole or not at all */
	printf("O_DIRECT: %s\n", pipe2(ends, O_DIRECT) ? strerror(errno) : "taken");
	setresuid(0, 0, 0);
	for (int i = 0; i < HOLDERS; i++) {
		kill(holders[i], SIGKILL);
		waitpid(holders[i], NULL, 0);
	}
	printf("then it takes %ld\n", fill(ends));
}

static void links(void)
{
	char target[4096], name[32];

	memset(target, 'a', sizeof(target) - 1);
	target[sizeof(target) - 1] = 0;
	for (long i = 0;; i++) {
		sprintf(name, "/tmp/%ld", i);
		if (!symlink(target, name))
			continue;
		printf("refused: %s\n", strerror(errno));
		unlink("/tmp/0");
		printf("one goes, one comes: %d\n", symlink(target, name));
		break;
	}
	printf("free: %s\n", free_share() >= 25 ? "a fourth or more" : "less than a fourth");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "links"))
		links();
	else
		pipes();
	return 0;
}
