/*
 * locks.c - scenarios of record locks, locks of open files and flock, between processes.
 *
 * IN_CHILD() { ... } runs its block in a child and waits for it; other children are held by pipes.
 */
#include <sys/file.h>

#include "../scenarios.h"

#define IN_CHILD() AS(0)

static int lock(int fd, int command, int type, long start, long length)
{
	struct flock request = {
		.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};

	return fcntl(fd, command, &request);
}

/* Prints who is in the way of a write lock: "R3+2" is a read lock of two bytes from 3 on. */
static void in_the_way(int fd, int command, long start, long length)
{
	struct flock request = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};

	const char *owner;
	char type;

	if (fcntl(fd, command, &request)) {
		say("%s", "error");
		return;
	}
	if (request.l_type == F_UNLCK) {
		say("%s", "free");
		return;
	}
	type = request.l_type == F_RDLCK ? 'R' : 'W';
	owner = request.l_pid == -1 ? "(open file)" : "";
	say("%c%ld+%ld%s", type, (long)request.l_start, (long)request.l_len, owner);
}

/* A child that locks, tells us, and keeps it until release() closes the pipe. */
static pid_t keep(int fd, int command, int type, long start, long length, int hold[2])
{
	int ready[2];
	char byte;
	pid_t child;

	pipe(ready);
	pipe(hold);
	child = fork();
	if (!child) {
		close(hold[1]);
		byte = (char)lock(fd, command, type, start, length);
		write(ready[1], &byte, 1);
		read(hold[0], &byte, 1);
		_exit(0);
	}
	read(ready[0], &byte, 1);
	close(ready[0]);
	close(ready[1]);
	close(hold[0]);
	return child;
}

static void release(pid_t child, int hold[2])
{
	close(hold[1]);
	waitpid(child, NULL, 0);
}

SCENARIO(record_locks_split_and_merge)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(lock(fd, F_SETLK, F_WRLCK, 10, 20));
	T(lock(fd, F_SETLK, F_UNLCK, 15, 5));
	IN_CHILD() {
		in_the_way(fd, F_GETLK, 0, 0);
		in_the_way(fd, F_GETLK, 15, 5);
		in_the_way(fd, F_GETLK, 14, 2);
		in_the_way(fd, F_GETLK, 20, 1);
	}
	T(lock(fd, F_SETLK, F_WRLCK, 15, 5));
	IN_CHILD()
		in_the_way(fd, F_GETLK, 0, 0);
	T(lock(fd, F_SETLK, F_RDLCK, 12, 4));
	IN_CHILD() {
		in_the_way(fd, F_GETLK, 0, 0);
		in_the_way(fd, F_GETLK, 12, 1);
		in_the_way(fd, F_GETLK, 16, 100);
		T(lock(fd, F_SETLK, F_RDLCK, 12, 4));
		T(lock(fd, F_SETLK, F_RDLCK, 12, 5));
	}
	T(lock(fd, F_SETLK, F_RDLCK, 0, 0));
	IN_CHILD()
		in_the_way(fd, F_GETLK, 5, 1);
	T(lock(fd, F_SETLK, F_UNLCK, 0, 0));
	IN_CHILD()
		in_the_way(fd, F_GETLK, 0, 0);
}

SCENARIO(record_locks_ranges)
{
	struct flock request = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_len = -4};
	int fd;

	make_file("f", "0123456789");
	fd = open("f", O_RDWR);
	T(fcntl(fd, F_SETLK, &request));
	IN_CHILD()
		in_the_way(fd, F_GETLK, 0, 0);
	request.l_whence = SEEK_CUR;
	T(lseek(fd, 2, SEEK_SET));
	T(fcntl(fd, F_SETLK, &request)); /* before the start */
	request.l_len = -2;
	T(fcntl(fd, F_SETLK, &request));
	IN_CHILD()
		in_the_way(fd, F_GETLK, 0, 0);
	request.l_start = 0x7fffffffffffffffLL;
	T(fcntl(fd, F_SETLK, &request));
	request.l_whence = SEEK_SET;
	request.l_len = 2;
	T(fcntl(fd, F_SETLK, &request));
	request.l_len = 1;
	T(fcntl(fd, F_SETLK, &request));
	request.l_whence = 7;
	T(fcntl(fd, F_SETLK, &request));
	T(lock(fd, F_SETLK, 9, 0, 0));
	T(lock(fd, F_GETLK, F_UNLCK, 0, 0));
	T(lock(fd, F_SETLK, F_RDLCK, -1, 0));
	T(fcntl(fd, F_SETLK, (void *)8));
	T(fcntl(-1, F_SETLK, &request));
}

SCENARIO(record_locks_need_modes)
{
	int reader, writer, path;

	make_file("f", "x");
	reader = open("f", O_RDONLY);
	writer = open("f", O_WRONLY);
	path = open("f", O_PATH);
	T(lock(reader, F_SETLK, F_WRLCK, 0, 1));
	T(lock(reader, F_SETLK, F_RDLCK, 0, 1));
	T(lock(writer, F_SETLK, F_RDLCK, 5, 1));
	T(lock(writer, F_SETLK, F_WRLCK, 5, 1));
	T(lock(path, F_SETLK, F_UNLCK, 0, 1));
	T(flock(path, LOCK_SH));
	T(flock(reader, LOCK_EX));
}

SCENARIO(record_locks_go_with_any_close)
{
	int a = open("f", O_CREAT | O_RDWR, 0644), b = open("f", O_RDWR), c = dup(a);

	T(lock(a, F_SETLK, F_WRLCK, 0, 10));
	close(c);
	IN_CHILD()
		in_the_way(b, F_GETLK, 0, 0);
	T(lock(a, F_SETLK, F_WRLCK, 0, 10));
	IN_CHILD() { /* not inherited, and its closing and ending changes nothing */
		in_the_way(b, F_GETLK, 0, 0);
		close(b);
	}
	IN_CHILD()
		in_the_way(b, F_GETLK, 0, 0);
	close(b);
	IN_CHILD()
		in_the_way(a, F_GETLK, 0, 0);
}

SCENARIO(record_locks_wait)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644), hold[2];
	pid_t child = keep(fd, F_SETLK, F_WRLCK, 0, 10, hold);

	in_the_way(fd, F_GETLK, 0, 0);
	T(lock(fd, F_SETLK, F_RDLCK, 5, 1));
	T(lock(fd, F_SETLK, F_RDLCK, 10, 1));
	if (!fork()) {
		usleep(20000);
		close(hold[1]);
		_exit(0);
	}
	close(hold[1]);
	T(lock(fd, F_SETLKW, F_WRLCK, 5, 1));
	waitpid(child, NULL, 0);
	wait(NULL);
}

static void on_alarm(int signo)
{
	(void)signo;
}

SCENARIO(lock_waits_are_interrupted)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	int fd = open("f", O_CREAT | O_RDWR, 0644), other = open("f", O_RDWR), hold[2];
	pid_t child = keep(fd, F_SETLK, F_WRLCK, 0, 10, hold);

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	T(lock(fd, F_SETLKW, F_WRLCK, 5, 1));
	release(child, hold);
	T(flock(other, LOCK_EX));
	setitimer(ITIMER_REAL, &soon, NULL);
	T(flock(fd, LOCK_SH));
}

/* A child that waits, by F_SETLKW or F_OFD_SETLKW, for a read lock of [start, start + 3). */
static pid_t reader(int command, long start)
{
	pid_t child = fork();

	if (!child) {
		int fd = open("f", O_RDWR);

		_exit(lock(fd, command, F_RDLCK, start, 3) ? 1 : 7);
	}
	usleep(100000); /* it waits by now */
	return child;
}

static void how_it_ends(pid_t child)
{
	int status = -1;

	T(waitpid(child, &status, 0) == child);
	T(WEXITSTATUS(status));
}

/* A write lock that becomes a read lock, in part, lets readers go on; and so do other kinds. */
SCENARIO(lock_waits_end_with_a_downgrade)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	pid_t child;

	T(lock(fd, F_SETLK, F_WRLCK, 0, 10));
	child = reader(F_SETLKW, 0);
	T(lock(fd, F_SETLK, F_RDLCK, 0, 5));
	how_it_ends(child);
	child = reader(F_OFD_SETLKW, 6);
	T(lock(fd, F_SETLKW, F_RDLCK, 6, 4));
	how_it_ends(child);
	T(lock(fd, F_SETLK, F_UNLCK, 0, 0));
	T(lock(fd, F_OFD_SETLK, F_WRLCK, 0, 0));
	child = reader(F_SETLKW, 0);
	T(lock(fd, F_OFD_SETLK, F_RDLCK, 0, 0));
	how_it_ends(child);
	T(flock(fd, LOCK_EX));
	child = fork();
	if (!child)
		_exit(flock(open("f", O_RDONLY), LOCK_SH) ? 1 : 7);
	usleep(100000);
	T(flock(fd, LOCK_SH));
	how_it_ends(child);
}

SCENARIO(open_file_locks)
{
	int a = open("f", O_CREAT | O_RDWR, 0644), b = open("f", O_RDWR), c = dup(a);
	struct flock request = {.l_type = F_RDLCK, .l_pid = 1};

	T(lock(a, F_OFD_SETLK, F_WRLCK, 0, 10));
	T(lock(b, F_OFD_SETLK, F_WRLCK, 5, 10));
	T(lock(c, F_OFD_SETLK, F_RDLCK, 5, 10));
	in_the_way(b, F_OFD_GETLK, 0, 0);
	in_the_way(b, F_GETLK, 5, 0);
	T(lock(b, F_SETLK, F_WRLCK, 0, 1));
	T(lock(b, F_SETLK, F_WRLCK, 20, 1));
	in_the_way(a, F_OFD_GETLK, 15, 0);
	T(fcntl(a, F_OFD_SETLK, &request));
	close(a);
	T(lock(b, F_OFD_SETLK, F_WRLCK, 5, 10));
	close(c);
	T(lock(b, F_OFD_SETLK, F_WRLCK, 5, 10));
}

SCENARIO(flock_shared_and_exclusive)
{
	int a = open("f", O_CREAT | O_RDWR, 0644), b = open("f", O_RDONLY), c = dup(a);

	T(flock(a, LOCK_SH));
	T(flock(b, LOCK_SH | LOCK_NB));
	T(flock(b, LOCK_EX | LOCK_NB)); /* loses the shared one too */
	T(flock(a, LOCK_EX | LOCK_NB));
	T(flock(c, LOCK_EX | LOCK_NB));
	T(flock(b, LOCK_SH | LOCK_NB));
	T(lock(b, F_SETLK, F_RDLCK, 0, 0)); /* another kind */
	close(a);
	T(flock(b, LOCK_SH | LOCK_NB));
	T(flock(c, LOCK_UN));
	T(flock(b, LOCK_SH | LOCK_NB));
	T(flock(b, 0));
	T(flock(b, LOCK_SH | LOCK_EX));
	T(flock(b, LOCK_NB));
	T(flock(b, 64));
	T(flock(99, LOCK_SH));
	T(flock(c, LOCK_UN));
	T(flock(open(".", O_RDONLY), LOCK_EX | LOCK_NB));
}

SCENARIO(flock_survives_fork)
{
	int a = open("f", O_CREAT | O_RDWR, 0644), b = open("f", O_RDWR);

	T(flock(a, LOCK_EX));
	IN_CHILD() {
		T(flock(b, LOCK_EX | LOCK_NB));
		T(flock(a, LOCK_UN));
	}
	T(flock(b, LOCK_EX | LOCK_NB));
}
