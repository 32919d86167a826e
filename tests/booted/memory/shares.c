/*
 * shares.c - of what there is so much for all, a user without privileges leaves root something:
 * System V's segments, their memory, watches of epoll. Prints who gets how much.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES 500

static int segment(size_t size)
{
	return shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
}

/* What a child without privileges says by its status. */
static int as_user(int (*take)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		setresuid(1000, 1000, 1000);
		_exit(take());
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static int take_segments(void)
{
	int count = 0;

	while (segment(4096) >= 0)
		count++;
	return errno == ENOSPC ? count : 255;
}

/* Of a megabyte; they are given back. */
static int take_memory(void)
{
	int ids[90], count = 0;

	while (count < 90 && (ids[count] = segment(1 << 20)) >= 0)
		count++;
	for (int i = 0; i < count; i++)
		shmctl(ids[i], IPC_RMID, NULL);
	return count;
}

static int watch(int epoll, int file)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event);
}

/* As many as there are: the error of the first that is refused to @told. Until it is killed. */
static void take_watches(int told)
{
	int files[FILES], error = 0;

	setresuid(1000, 1000, 1000);
	for (int i = 0; i < FILES; i += 2)
		pipe(files + i);
	while (!error) {
		int epoll = epoll_create1(0);

		for (int i = 0; i < FILES && !error; i++)
			if (watch(epoll, files[i]))
				error = errno;
	}
	write(told, &error, sizeof(error));
	for (;;)
		pause();
}

int main(void)
{
	int told[2], ends[2], error;
	int megabytes = as_user(take_memory);

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("memory of segments: %s\n",
	       megabytes <= 32 ? "half at most" : "as much as it likes");
	printf("a user's segments: %d\n", as_user(take_segments));
	printf("root's: %s\n", segment(4096) < 0 ? "none" : "one more");
	pipe(told);
	pid_t child = fork();
	if (!child)
		take_watches(told[1]);
	read(told[0], &error, sizeof(error));
	printf("a user's watches: %s\n", strerror(error));
	pipe(ends);
	printf("root's: %s\n", watch(epoll_create1(0), ends[0]) ? "none" : "one more");
	kill(child, SIGKILL);
	return 0;
}
