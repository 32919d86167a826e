/*
 * borders.c - more scenarios at the exact border of a rule of processes: limits of memory, signals that are pending
 * twice or come to who waits with another mask, what is left of a timer, groups without anybody to continue them.
 */
#include "../scenarios.h"

SCENARIO(data_that_is_data_already_does_not_count_twice)
{
	const size_t size = 32 << 20;
	struct rlimit limit = {48 << 20, RLIM_INFINITY};
	char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	T(setrlimit(RLIMIT_DATA, &limit));
	T(mprotect(data, size, PROT_READ | PROT_WRITE | PROT_EXEC));
	T(mprotect(text, size, PROT_READ | PROT_WRITE));
	T(mprotect(data, size, PROT_READ));
	T(mprotect(text, size, PROT_READ | PROT_WRITE));
}

static const char *is(pid_t pid, pid_t expected)
{
	return pid == expected ? "yes" : "no";
}

SCENARIO(pending_signal_keeps_who_sent_it_first)
{
	siginfo_t info;
	sigset_t set;
	pid_t child;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	child = fork();
	if (!child)
		_exit(kill(getppid(), SIGUSR1));
	waitpid(child, &status, 0);
	T(kill(getpid(), SIGUSR1));
	T(sigwaitinfo(&set, &info));
	say("from the child: %s", is(info.si_pid, child));
	T(kill(getpid(), SIGUSR1));
	T(sigwaitinfo(&set, &info));
	say("from myself: %s", is(info.si_pid, getpid()));
}

static sigset_t in_handler;

static void look_at_mask(int signo)
{
	(void)signo;
	sigprocmask(SIG_BLOCK, NULL, &in_handler);
}

static void show_mask(const sigset_t *set)
{
	for (int signo = 1; signo < 32; signo++)
		if (sigismember(set, signo))
			say("%d", signo);
}

SCENARIO(handler_during_sigsuspend_has_its_mask)
{
	struct sigaction action = {.sa_handler = look_at_mask};
	sigset_t set, suspended;

	sigaddset(&action.sa_mask, SIGWINCH);
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_SETMASK, &set, NULL);
	raise(SIGUSR1);
	sigemptyset(&suspended);
	sigaddset(&suspended, SIGHUP);
	T(sigsuspend(&suspended));
	show_mask(&in_handler);
	sigprocmask(SIG_BLOCK, NULL, &set);
	say("then");
	show_mask(&set);
}

/* The call, since libraries make their own of it. */
SCENARIO(alarm_rounds_what_is_left)
{
	const struct itimerval less = {.it_value = {1, 250000}}, more = {.it_value = {1, 990000}};

	setitimer(ITIMER_REAL, &less, NULL);
	T(syscall(SYS_alarm, 0));
	setitimer(ITIMER_REAL, &more, NULL);
	T(syscall(SYS_alarm, 5));
	T(syscall(SYS_alarm, 0));
}

/* Its parent, the group's only tie to the session, has ended, and nobody has waited for that. */
static void stop_as_orphan(pid_t parent, int told)
{
	while (getppid() == parent)
		usleep(1000);
	raise(SIGTSTP);
	write(told, "x", 1);
	_exit(0);
}

SCENARIO(zombie_does_not_keep_its_group_from_being_orphaned)
{
	struct pollfd end;
	int ends[2], status;
	pid_t leader;

	pipe(ends);
	leader = fork();
	if (!leader) {
		setpgid(0, 0);
		leader = getpid();
		if (!fork())
			stop_as_orphan(leader, ends[1]);
		_exit(0);
	}
	end = (struct pollfd){ends[0], POLLIN, 0};
	T(poll(&end, 1, 3000));
	kill(-leader, SIGKILL);
	waitpid(leader, &status, 0);
	say("%d", status);
}
