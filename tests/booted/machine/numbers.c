/*
 * numbers.c - all process numbers are given out once, and begin anew: those that are in use are passed over, also where
 * only a group or a session has one.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST 300 /* below it numbers are given out once only */

/* A process that ends at once: its number. */
static pid_t next(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

/* A member of what its parent, whose number that is, has begun and left: a session, or a group in ours. */
static pid_t leave_member(int session, int *member)
{
	int ends[2];
	pid_t leader;

	pipe(ends);
	leader = fork();
	if (!leader) {
		if (session)
			setsid();
		else
			setpgid(0, 0);
		pid_t child = fork();
		if (!child)
			pause();
		if (session)
			setpgid(child, child);
		write(ends[1], &child, sizeof(child));
		_exit(0);
	}
	read(ends[0], member, sizeof(*member));
	waitpid(leader, NULL, 0);
	return leader;
}

int main(void)
{
	pid_t session, group, members[2], pid = 0, last;
	int used = 0, rounds = 0;

	while (pid <= FIRST)
		pid = next();
	session = leave_member(1, &members[0]);
	group = leave_member(0, &members[1]);
	do {
		last = pid;
		pid = next();
		used += pid == session || pid == group || pid == members[0] || pid == members[1];
		rounds += pid < last;
	} while (rounds < 1 || pid < members[1]);
	printf("%d rounds, %d that were used\n", rounds, used);
	return 0;
}
