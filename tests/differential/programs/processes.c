/*
 * processes.c - scenarios of children waited for, stopped and continued, of signals and groups.
 */
#include "../scenarios.h"

#include <pthread.h>

SCENARIO(wait_statuses)
{
	int status;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(300);
	T(waitpid(pid, &status, 0) == pid);
	T(WIFEXITED(status));
	T(WEXITSTATUS(status));
	pid = fork();
	if (!pid) {
		signal(SIGTERM, SIG_DFL);
		kill(getpid(), SIGTERM);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	T(WIFSIGNALED(status));
	T(WTERMSIG(status));
	T(waitpid(-1, &status, 0));
	T(waitpid(99999, &status, WNOHANG));
	T(kill(99999, 0));
	T(kill(getpid(), 65));
}

SCENARIO(stop_and_continue)
{
	int status, fds[2];
	char c;
	pid_t pid;

	/* The child stays until the pipe is closed: its end would hide that it was continued. */
	if (pipe(fds))
		return;
	pid = fork();
	if (!pid) {
		close(fds[1]);
		raise(SIGSTOP);
		_exit(read(fds[0], &c, 1) == 0 ? 3 : 4);
	}
	close(fds[0]);
	T(waitpid(pid, &status, WUNTRACED) == pid);
	T(WIFSTOPPED(status));
	T(WSTOPSIG(status));
	T(waitpid(pid, &status, WNOHANG));
	kill(pid, SIGCONT);
	T(waitpid(pid, &status, WCONTINUED) == pid);
	T(WIFCONTINUED(status));
	close(fds[1]);
	waitpid(pid, &status, 0);
	T(WEXITSTATUS(status));
}

static volatile int caught;

static void count_signal(int signo)
{
	(void)signo;
	caught++;
}

SCENARIO(signal_interrupts_read)
{
	struct sigaction action = {.sa_handler = count_signal};
	int fds[2];
	char c;
	pid_t pid, parent = getpid();

	pipe(fds);
	sigaction(SIGUSR1, &action, NULL);
	pid = fork();
	if (!pid) {
		struct timespec t = {0, 500 * 1000 * 1000}; /* until the parent surely reads */

		nanosleep(&t, NULL);
		kill(parent, SIGUSR1);
		_exit(0);
	}
	T(read(fds[0], &c, 1));
	T(caught);
	waitpid(pid, NULL, 0);
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	pid = fork();
	if (!pid) {
		struct timespec t = {0, 50 * 1000 * 1000};

		nanosleep(&t, NULL);
		kill(parent, SIGUSR1);
		nanosleep(&t, NULL);
		write(fds[1], "x", 1);
		_exit(0);
	}
	T(read(fds[0], &c, 1));
	T(caught);
}

SCENARIO(signal_masks)
{
	sigset_t set, old;

	signal(SIGUSR1, count_signal);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	T(sigprocmask(SIG_BLOCK, &set, &old));
	raise(SIGUSR1);
	raise(SIGUSR1);
	T(caught);
	T(sigpending(&old));
	T(sigismember(&old, SIGUSR1));
	T(sigsuspend(&(sigset_t){0}));
	T(caught);
	T(sigprocmask(SIG_UNBLOCK, &set, NULL));
	T(caught);
	T(sigprocmask(99, &set, NULL));
	T(signal(SIGKILL, count_signal) == SIG_ERR ? -1 : 0);
}

SCENARIO(process_groups)
{
	pid_t pid = fork();

	if (!pid) {
		T(setpgid(0, 0));
		T(getpgrp() == getpid());
		T(setsid());
		pid_t child = fork();

		if (!child) {
			T(setsid() == getpid());
			T(getsid(0) == getpid());
			T(setpgid(0, 0));
			_exit(0);
		}
		wait(NULL);
		T(setpgid(child, child));
		T(setpgid(0, -1));
		T(setpgid(-1, 0));
		T(setpgid(-1, 1));
		T(setpgid(1, 1));
		T(getpgid(99999));
		_exit(0);
	}
	wait(NULL);
}

static volatile pid_t second;

/* Until the pipe's other end is closed. */
static void *tell_number_and_wait(void *end)
{
	char byte;

	second = (pid_t)syscall(SYS_gettid);
	return (void *)(long)read(*(int *)end, &byte, 1);
}

/* A thread's number stands for its process. */
SCENARIO(calls_take_the_number_of_a_thread)
{
	struct rlimit limit;
	pthread_t thread;
	int ends[2];

	pipe(ends);
	signal(SIGUSR1, count_signal);
	pthread_create(&thread, NULL, tell_number_and_wait, &ends[0]);
	while (!second)
		pause_ms(1);
	T(kill(second, 0));
	T(kill(second, SIGUSR1));
	while (!caught)
		pause_ms(1);
	T(getpgid(second) == getpgrp());
	T(getsid(second) == getsid(0));
	T(syscall(SYS_prlimit64, second, RLIMIT_NOFILE, NULL, &limit));
	close(ends[1]);
	pthread_join(thread, NULL);
}

#define NOBODY_ELSE 54321 /* a user who has no other processes, here or on Linux */

SCENARIO(nobody_may_be_signalled)
{
	if (as_begin(NOBODY_ELSE, NOBODY_ELSE)) {
		T(kill(-1, 0));
		T(kill(1, 0));
		as_end();
	}
}

/* Who has ended and was not waited for counts as well. */
SCENARIO(a_limit_of_processes_counts_those_that_have_ended)
{
	if (as_begin(NOBODY_ELSE, NOBODY_ELSE)) {
		int made = 0;
		pid_t child;

		T(setrlimit(RLIMIT_NPROC, &(struct rlimit){8, 8}));
		while (made < 20 && (child = fork()) >= 0) {
			if (!child)
				_exit(0);
			waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT);
			made++;
		}
		say("%d", made);
		T(wait(NULL) > 0);
		child = fork();
		if (!child)
			_exit(0);
		T(child > 0);
		as_end();
	}
}
