/*
 * leaving.c - users who look up what a prefix cache remembers, end, and are waited for, while
 * interrupts come that take the lock under which that is done. Says "left".
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../must.h"

#define USERS 30
#define LOOKUPS 40 /* more than it takes to get a prefix cache */

static volatile sig_atomic_t alarms;

static void count(int number)
{
	(void)number;
	alarms++;
}

static void look_as(uid_t user)
{
	static const char *const names[] = {"/proc/sys/kernel/ostype", "/etc/passwd", "/bin/busybox", "/proc/self/status"};
	struct stat status;

	must(setresuid(user, user, user), "setresuid");
	for (int i = 0; i < LOOKUPS; i++)
		must(stat(names[i % 4], &status), names[i % 4]);
	_exit(0);
}

int main(void)
{
	const struct itimerval often = {{0, 500}, {0, 500}};
	int status;

	signal(SIGALRM, count);
	must(setitimer(ITIMER_REAL, &often, NULL), "setitimer");
	for (uid_t user = 0; user < USERS || alarms < 20; user++) {
		pid_t child = fork();

		if (!child)
			look_as(1000 + user);
		must(child, "fork");
		while (waitpid(child, &status, 0) < 0)
			continue;
		must(status ? -1 : 0, "a user's status");
	}
	printf("left\n");
	return 0;
}
