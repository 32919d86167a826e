/*
 * deadlocks.c - scenarios of record locks that wait for each other: who closes a circle is told.
 */
#include <pthread.h>
#include <sys/file.h>

#include "../scenarios.h"

static int lock_byte(int fd, int command, int type, long at)
{
	struct flock request = {
		.l_type = (short)type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

	return fcntl(fd, command, &request);
}

/* A child, which is to tell by the pipe that it only has one call left to sleep in. */
static pid_t start(int ready[2])
{
	pipe(ready);
	return fork();
}

static void tell(int ready[2])
{
	write(ready[1], "", 1);
}

static void until_it_waits(pid_t child, int ready[2])
{
	char byte;

	read(ready[0], &byte, 1);
	close(ready[0]);
	close(ready[1]);
	until_asleep(child);
}

/* A child that has locked byte @own and waits for byte @wanted; then it ends. */
static pid_t waits(int own, int wanted)
{
	int ready[2];
	pid_t child = start(ready);

	if (!child) {
		int fd = open("f", O_RDWR);

		if (own >= 0)
			lock_byte(fd, F_SETLK, F_WRLCK, own);
		tell(ready);
		_exit(lock_byte(fd, F_SETLKW, F_WRLCK, wanted) ? errno : 0);
	}
	until_it_waits(child, ready);
	return child;
}

static void how_it_ends(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	say("child:%d", WEXITSTATUS(status));
}

SCENARIO(deadlock_of_two)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	pid_t child;

	T(lock_byte(fd, F_SETLK, F_WRLCK, 0));
	child = waits(1, 0);
	T(lock_byte(fd, F_SETLK, F_WRLCK, 1));
	T(lock_byte(fd, F_SETLKW, F_WRLCK, 1));
	T(lock_byte(fd, F_SETLKW, F_RDLCK, 1));
	T(lock_byte(fd, F_SETLKW, F_WRLCK, 2)); /* what nobody has is no circle */
	T(lock_byte(fd, F_SETLKW, F_UNLCK, 0));
	how_it_ends(child);
	T(lock_byte(fd, F_SETLKW, F_WRLCK, 1));
}

SCENARIO(deadlock_of_readers)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	pid_t child;

	T(lock_byte(fd, F_SETLK, F_RDLCK, 0));
	child = waits(-1, 0);
	T(lock_byte(fd, F_SETLKW, F_WRLCK, 0)); /* who waits has nothing: it is let through */
	T(lock_byte(fd, F_SETLK, F_UNLCK, 0));
	how_it_ends(child);
}

/* Of @count processes each has a byte and waits for the next one's, but the first, which is us and
 * closes the circle. */
static void circle(int count)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	pid_t children[20];

	lock_byte(fd, F_SETLK, F_WRLCK, 0);
	for (int i = count - 1; i > 0; i--)
		children[i] = waits(i, (i + 1) % count);
	alarm(1);
	T(lock_byte(fd, F_SETLKW, F_WRLCK, 1));
	alarm(20);
	lock_byte(fd, F_SETLK, F_UNLCK, 0);
	for (int i = count - 1; i > 0; i--)
		how_it_ends(children[i]);
}

static void on_alarm(int signo)
{
	(void)signo;
}

SCENARIO(deadlock_of_many)
{
	struct sigaction action = {.sa_handler = on_alarm};

	sigaction(SIGALRM, &action, NULL);
	circle(3);
	circle(12);
	circle(13); /* so many are not looked at: it waits */
}

static void *lock_beside(void *wanted)
{
	int fd = open("f", O_RDWR);

	return (void *)(long)(lock_byte(fd, F_SETLKW, F_WRLCK, *(int *)wanted) ? errno : 0);
}

/* Threads of a process are one owner: what one of them waits for, its process does. */
SCENARIO(deadlock_over_threads)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644), wanted = 1;
	pthread_t thread;
	void *result;
	pid_t child;

	T(lock_byte(fd, F_SETLK, F_WRLCK, 0));
	child = waits(1, 0);
	pthread_create(&thread, NULL, lock_beside, &wanted);
	pthread_join(thread, &result);
	say("thread:%ld", (long)result);
	T(lock_byte(fd, F_SETLK, F_UNLCK, 0));
	how_it_ends(child);
}

/* A child that waits for byte @wanted for the open file @file. */
static pid_t waits_by_file(int file, int wanted)
{
	int ready[2];
	pid_t child = start(ready);

	if (!child) {
		tell(ready);
		_exit(lock_byte(file, F_OFD_SETLKW, F_WRLCK, wanted) ? errno : 0);
	}
	until_it_waits(child, ready);
	return child;
}

/* Locks of open files belong to no process: who waits for one is in no circle, even if the file
 * waits for us; but if it is its lock that we ask for, it closes one. */
SCENARIO(deadlock_of_open_files)
{
	struct sigaction action = {.sa_handler = on_alarm};
	int fd = open("f", O_CREAT | O_RDWR, 0644), file = open("f", O_RDWR);
	pid_t child, second;

	sigaction(SIGALRM, &action, NULL);
	T(lock_byte(file, F_OFD_SETLK, F_WRLCK, 0));
	T(lock_byte(fd, F_SETLK, F_WRLCK, 2));
	child = waits(1, 0);
	second = waits_by_file(file, 2);
	alarm(1);
	T(lock_byte(fd, F_SETLKW, F_WRLCK, 1));
	T(lock_byte(fd, F_SETLKW, F_WRLCK, 0));
	alarm(1);
	T(lock_byte(file, F_OFD_SETLKW, F_WRLCK, 1));
	alarm(20);
	T(lock_byte(fd, F_SETLK, F_UNLCK, 2));
	how_it_ends(second);
	T(lock_byte(file, F_OFD_SETLK, F_UNLCK, 0));
	how_it_ends(child);
}

SCENARIO(flock_waits_for_itself)
{
	struct sigaction action = {.sa_handler = on_alarm};
	int a, b, ready[2];
	pid_t child;

	make_file("f", "");
	make_file("g", "");
	sigaction(SIGALRM, &action, NULL);
	a = open("f", O_RDWR);
	T(flock(a, LOCK_EX));
	child = start(ready);
	if (!child) {
		b = open("g", O_RDWR);
		flock(b, LOCK_EX);
		tell(ready);
		_exit(flock(open("f", O_RDWR), LOCK_EX) ? errno : 0);
	}
	until_it_waits(child, ready);
	alarm(1);
	T(flock(open("g", O_RDWR), LOCK_EX)); /* no circle is looked for */
	alarm(20);
	T(flock(a, LOCK_UN));
	how_it_ends(child);
}
