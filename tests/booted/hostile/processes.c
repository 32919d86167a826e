/*
 * processes.c - signals at every moment, stops, orphaned groups, terminals, vfork.
 */
#include "hostile.h"

#include <stdatomic.h>

static atomic_int caught;

static void count(int signo)
{
	(void)signo;
	atomic_fetch_add(&caught, 1);
}

static void handle(int signo, int flags)
{
	struct sigaction action = {.sa_handler = count, .sa_flags = flags};

	sigaction(signo, &action, NULL);
}

/* ---- a signal every half millisecond --------------------------------------------------------------------- */

static void pass_bytes(void)
{
	char text[3000], got[3000];
	int fds[2], status;
	size_t done = 0;
	pid_t pid;

	check(!pipe(fds), "pipe", 0);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7);
	pid = must_fork();
	if (!pid) {
		for (size_t i = 0; i < sizeof(text); i += 100)
			if (write(fds[1], text + i, 100) != 100)
				_exit(1);
		_exit(33);
	}
	close(fds[1]);
	for (ssize_t n; done < sizeof(got) && (n = read(fds[0], got + done, sizeof(got) - done)) > 0;)
		done += (size_t)n;
	check(done == sizeof(got) && !memcmp(text, got, done), "bytes through a pipe", (long)done);
	close(fds[0]);
	check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 33, "the writer", status);
}

static void run_program(void)
{
	char *argv[] = {"hostile", "no-such-part", NULL};
	int status;
	pid_t pid = vfork();

	if (!pid) {
		execv("/proc/self/exe", argv);
		_exit(99);
	}
	check(waitpid(pid, &status, 0) == pid && !status, "a program", status);
}

void test_storm(void)
{
	struct itimerval storm = {{0, 500}, {0, 500}}, calm = {{0, 0}, {0, 0}};
	struct timespec before, after, time = {0, 30000000};
	int fd;

	handle(SIGALRM, SA_RESTART);
	setitimer(ITIMER_REAL, &storm, NULL);
	for (int i = 0; i < 60; i++) {
		pass_bytes();
		run_program();
		fd = open("storm", O_CREAT | O_RDWR | O_TRUNC, 0644);
		check(fd >= 0 && write(fd, "0123456789", 10) == 10 && !unlink("storm") && !close(fd), "a file", i);
	}
	clock_gettime(CLOCK_MONOTONIC, &before);
	while (nanosleep(&time, &time) == -1)
		check(errno == EINTR, "nanosleep", errno);
	clock_gettime(CLOCK_MONOTONIC, &after);
	check((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec >= 30000000, "time slept", 0);
	setitimer(ITIMER_REAL, &calm, NULL);
	check(caught > 20, "signals", caught);
	signal(SIGALRM, SIG_DFL);
}

/* ---- stopping and continuing ---------------------------------------------------------------------------------- */

static void stop_and_continue(pid_t pid, int signo, int times)
{
	int status;

	for (int i = 0; i < times; i++) {
		kill(pid, signo);
		check(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == signo,
		      "a stop", status);
		check(waitpid(pid, &status, WUNTRACED | WNOHANG) == 0, "a stop is told once", status);
		kill(pid, SIGCONT);
		check(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status), "a continuation", status);
	}
}

void test_stops(void)
{
	int status, fds[2];
	pid_t pid;

	pid = must_fork();
	if (!pid)
		for (;;)
			getppid();
	stop_and_continue(pid, SIGSTOP, 50);
	kill(pid, SIGSTOP);
	check(waitpid(pid, &status, WUNTRACED) == pid && WSTOPSIG(status) == SIGSTOP, "stopped again", status);
	kill(pid, SIGKILL);
	check(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGKILL, "SIGKILL of a stopped one", status);

	/* A call that a stop interrupts goes on where it was. */
	check(!pipe(fds), "pipe", 0);
	pid = must_fork();
	if (!pid) {
		struct pollfd poll_fd = {.fd = fds[0], .events = POLLIN};
		char c;

		_exit(poll(&poll_fd, 1, 10000) == 1 && read(fds[0], &c, 1) == 1 && read(fds[0], &c, 1) == 1 ? c : 1);
	}
	pause_ms(50);
	stop_and_continue(pid, SIGSTOP, 3);
	check(write(fds[1], "a", 1) == 1, "write", 0);
	pause_ms(50);
	stop_and_continue(pid, SIGSTOP, 3);
	check(write(fds[1], "b", 1) == 1, "write", 0);
	check(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 'b', "poll and read over stops", status);

	/* Nobody waits for children of those who ignore SIGCHLD. */
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 20; i++)
		if (!fork())
			_exit(3);
	check(wait(&status) == -1 && errno == ECHILD, "SIGCHLD ignored", status);
	signal(SIGCHLD, SIG_DFL);
	close(fds[0]);
	close(fds[1]);
}

/* ---- orphaned groups -------------------------------------------------------------------------------------------- */

static int report_fd;

static void report(int signo)
{
	char c = (char)signo;

	if (write(report_fd, &c, 1) != 1)
		_exit(2);
}

static void orphan(void)
{
	setpgid(0, 0);
	signal(SIGHUP, report);
	signal(SIGCONT, report);
	raise(SIGSTOP);
	/* In an orphaned group this signal does not stop. */
	raise(SIGTSTP);
	report('t');
	_exit(0);
}

void test_orphans(void)
{
	char got[8] = "";
	int fds[2], status;
	size_t n = 0;
	pid_t pid;

	check(!pipe(fds), "pipe", 0);
	report_fd = fds[1];
	pid = must_fork();
	if (!pid) {
		pid_t child = must_fork();

		if (!child)
			orphan();
		waitpid(child, &status, WUNTRACED);
		_exit(WIFSTOPPED(status) ? 5 : 6);
	}
	check(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5, "the parent between", status);
	close(fds[1]);
	while (n < sizeof(got) - 1 && read(fds[0], got + n, 1) == 1)
		n++;
	close(fds[0]);
	check(n == 3 && memchr(got, SIGHUP, n) && memchr(got, SIGCONT, n) && got[2] == 't', "what the orphan got", (long)n);
}

/* ---- the terminal's foreground group ------------------------------------------------------------------------------ */

static int terminal;

static int set_group(pid_t group)
{
	return ioctl(terminal, TIOCSPGRP, &group);
}

static void abuse_terminal(void)
{
	pid_t group = 0, other;
	int status, fds[2];
	char c;

	check(set_group(-1) == -1 && errno == EINVAL, "group -1", errno);
	check(set_group(99999) == -1 && errno == ESRCH, "a group that is not there", errno);
	check(ioctl(terminal, TIOCSPGRP, (void *)8) == -1 && errno == EFAULT, "a wild pointer", errno);
	check(ioctl(terminal, TIOCSCTTY, 0) == -1 && errno == EPERM, "TIOCSCTTY of no leader", errno);
	check(!pipe(fds), "pipe", 0);
	other = must_fork();
	if (!other) {
		setsid();
		check(write(fds[1], "x", 1) == 1, "write", 0);
		check(set_group(getpid()) == -1 && errno == ENOTTY, "from another session", errno);
		check(ioctl(terminal, TIOCGPGRP, &group) == -1 && errno == ENOTTY, "TIOCGPGRP from there", errno);
		check(open("/dev/tty", O_RDWR) == -1 && errno == ENXIO, "/dev/tty without a terminal", errno);
		pause_ms(100);
		_exit(wrong ? 1 : 0);
	}
	check(read(fds[0], &c, 1) == 1, "read", 0);
	check(set_group(other) == -1 && errno == EPERM, "a group of another session", errno);
	check(waitpid(other, &status, 0) == other && !status, "the other session", status);
	/* From the background: SIGTTOU stops the caller, or, ignored, the call goes through. */
	check(!ioctl(terminal, TIOCGPGRP, &group) && group == getpgrp(), "the foreground", group);
	other = must_fork();
	if (!other) {
		setpgid(0, 0);
		set_group(getpid());
		_exit(0);
	}
	check(waitpid(other, &status, WUNTRACED) == other && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTOU,
	      "TIOCSPGRP from the background", status);
	kill(other, SIGKILL);
	waitpid(other, &status, 0);
	signal(SIGTTOU, SIG_IGN);
	other = must_fork();
	if (!other) {
		setpgid(0, 0);
		_exit(set_group(getpid()) ? 1 : 0);
	}
	check(waitpid(other, &status, 0) == other && !status, "the same with SIGTTOU ignored", status);
	check(!set_group(getpgrp()), "the foreground again", errno);
	signal(SIGTTOU, SIG_DFL);
}

void test_groups(void)
{
	terminal = open("/dev/tty", O_RDWR);
	if (terminal < 0) {
		puts("  no terminal");
		return;
	}
	int status = in_child(abuse_terminal);

	check(!status, "the terminal", status);
	close(terminal);
}

/* ---- vfork ----------------------------------------------------------------------------------------------------------- */

static volatile int *shared;

static void wait_in_vfork(void)
{
	if (!vfork()) {
		shared[0] = getpid();
		for (int i = 0; i < 200 && !shared[1]; i++)
			pause_ms(20);
		shared[2] = 1;
		_exit(0);
	}
}

void test_vfork(void)
{
	int status;
	pid_t pid;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 100; i++) {
		pid = vfork();
		if (!pid) {
			*(volatile int *)shared = i;
			if (i % 3 == 1)
				kill(getpid(), SIGKILL);
			if (i % 3 == 2)
				*(volatile int *)8 = 1;
			_exit(i % 3);
		}
		check(shared[0] == i, "the child came first", i);
		check(waitpid(pid, &status, 0) == pid, "waitpid", i);
	}
	shared[0] = 0;
	pid = must_fork();
	if (!pid) {
		wait_in_vfork();
		_exit(0);
	}
	while (!shared[0])
		pause_ms(5);
	kill(pid, SIGKILL);
	check(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGKILL && !shared[2], "killed while in vfork", status);
	shared[1] = 1;
	for (int i = 0; i < 200 && !shared[2]; i++)
		pause_ms(10);
	check(shared[2], "the child lived on", 0);
}

/* ---- a growing group is killed ------------------------------------------------------------------------------------------ */

static void breed(void)
{
	setpgid(0, 0);
	for (;;) {
		fork();
		pause_ms(1);
	}
}

void test_kill(void)
{
	int status;
	pid_t pid;

	signal(SIGTTIN, SIG_IGN);
	for (int i = 0; i < 5; i++) {
		fflush(stdout);
		pid = must_fork();
		if (!pid) {
			struct rlimit limit = {150, 150};

			setrlimit(RLIMIT_NPROC, &limit);
			breed();
		}
		pause_ms(60);
		/* One signal to the group must do: no child may slip through between its parent and it. */
		check(!kill(-pid, SIGKILL), "kill of the group", pid);
		check(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGKILL, "its first", status);
		for (int wait_more = 0; wait_more < 100 && !kill(-pid, 0); wait_more++)
			pause_ms(10);
		check(kill(-pid, 0) == -1 && errno == ESRCH, "somebody of the group lives", pid);
	}
}

/* ---- no room for another process ---------------------------------------------------------------------------------------- */

#define REFUSED 24

/* A process with rights of its own asks once the machine is full, tells, and ends. */
static void ask_when_full(int number, int go, int told)
{
	gid_t group = (gid_t)(100 + number);
	char byte;
	pid_t pid;

	check(getuid() || !setresgid(group, group, group), "setresgid", number);
	(void)!read(go, &byte, 1);
	pid = fork();
	if (!pid)
		_exit(0);
	byte = pid == -1 && (errno == EAGAIN || errno == ENOMEM);
	(void)!write(told, &byte, 1);
	_exit(0);
}

/* Fork until nothing goes any more. On Linux, where that is far, a limit says when. */
void test_refused(void)
{
	int go[2], told[2], status, count = 0;
	struct rlimit limit = {400, 400};
	pid_t first = 0, pid;
	char bytes[REFUSED] = {0};

	fflush(stdout);
	pid = must_fork();
	if (pid) {
		check(waitpid(pid, &status, 0) == pid && !status, "refused", status);
		return;
	}
	setpgid(0, 0);
	(void)!(pipe(go) + pipe(told));
	if (access("/proc/chainwalk", F_OK))
		check(!setrlimit(RLIMIT_NPROC, &limit) && !setresuid(54321, 54321, 54321), "a limit", errno);
	for (int i = 0; i < REFUSED; i++)
		if (!must_fork())
			ask_when_full(i, go[0], told[1]);
	while ((pid = fork()) > 0) {
		first = first ? first : pid;
		setpgid(pid, first);
		count++;
	}
	if (!pid)
		for (;;)
			pause();
	check(errno == EAGAIN || errno == ENOMEM, "fork when the machine is full", errno);
	check(count > 50, "processes", count);
	check(write(go[1], bytes, REFUSED) == REFUSED, "go", 0);
	/* nobody is waited for before all have asked: what has ended takes its place in the table till then */
	for (int i = 0; i < REFUSED; i++)
		check(read(told[0], bytes, 1) == 1 && bytes[0], "who asked when it was full", i);
	for (int i = 0; i < REFUSED; i++)
		check(wait(&status) > 0 && !status, "its end", status);
	kill(-first, SIGKILL);
	while (count--)
		check(wait(&status) > 0 && WTERMSIG(status) == SIGKILL, "who filled it", status);
	_exit(wrong ? 1 : 0);
}
