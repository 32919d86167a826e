/*
 * taken.c - how much of the kernel's memory, and time, a user can take: by pipes that he fills, by
 * symbolic links of a tmpfs, by events that nobody reads, by room in a file that he asks for and is
 * killed, by alarms that nobody takes.
 *
 * "pipes": processes of a user without privileges fill all pipes that they can have, and stay;
 * another's pipe works meanwhile, if slowly, and holds all again once they are gone. "links": links
 * of the longest targets until one is refused. "events": of files that come and go, in many queues.
 * "room": fallocate() of a hole inside a file, killed on its way. "alarms": a timer of a
 * microsecond whose signal is blocked, or ignored. Prints what must be so, and nothing of how much.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
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

static void say_free(void)
{
	printf("free: %s\n", free_share() >= 25 ? "a fourth or more" : "less than a fourth");
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
	say_free();
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
	say_free();
}

static void events(void)
{
	char name[252];
	int last = -1, made = 0;

	setresuid(1000, 1000, 1000);
	mkdir("/tmp/watched", 0700);
	chdir("/tmp/watched");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	for (; made < 100; made++) {
		last = inotify_init1(IN_NONBLOCK);
		inotify_add_watch(last, ".", IN_ALL_EVENTS);
	}
	for (int i = 0; i < 1000; i++) {
		name[0] = (char)('a' + i % 26);
		close(open(name, O_CREAT | O_WRONLY, 0600));
		unlink(name);
	}
	say_free();

	static char events[1 << 20];
	ssize_t n, end = 0;
	int lost = 0;

	while ((n = read(last, events, sizeof(events))) > 0)
		for (end = 0; end < n;) {
			const struct inotify_event *event = (void *)(events + end);

			lost += event->mask & IN_Q_OVERFLOW ? 1 : 0;
			end += (ssize_t)(sizeof(*event) + event->len);
		}
	printf("told of lost ones: %d\n", lost);
}

static void room(void)
{
	int file = memfd_create("room", 0), status;

	ftruncate(file, (1L << 30) + 100);
	pwrite(file, "x", 1, (1L << 30) + 50);
	pid_t child = fork();
	if (!child) {
		fallocate(file, 0, 0, 1L << 30);
		_exit(0);
	}
	usleep(5000);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	char byte = 0;
	pread(file, &byte, 1, (1L << 30) + 50);
	printf("the file's end: %c\n", byte);
}

/* Is the next alarm more than a millisecond away, at least once? */
static void how_far(const char *when)
{
	struct itimerval timer;
	long most = 0;

	for (int i = 0; i < 20000 && most < 1000; i++) {
		getitimer(ITIMER_REAL, &timer);
		if (timer.it_value.tv_usec > most)
			most = timer.it_value.tv_usec;
	}
	printf("%s: %s\n", when, most >= 1000 ? "far" : "near");
}

static void alarms(void)
{
	const struct itimerval soon = {{0, 1}, {0, 1}};
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	how_far("blocked");
	signal(SIGALRM, SIG_IGN);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	how_far("ignored");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*take)(void);
	} parts[] = {{"pipes", pipes},
		     {"links", links},
		     {"events", events},
		     {"room", room},
		     {"alarms", alarms}};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned i = 0; argc > 1 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(argv[1], parts[i].name))
			parts[i].take();
	return 0;
}
