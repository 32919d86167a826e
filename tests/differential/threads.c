/*
 * threads.c - threads, futexes, signals, timers, limits and the errors of execve.
 *
 * Nothing here is decided by who is faster: threads meet by joins, pipes and futexes.
 */
#include "scenarios.h"

#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

enum {
	FUTEX_WAIT,
	FUTEX_WAKE,
	FUTEX_REQUEUE = 3,
	FUTEX_CMP_REQUEUE,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_WAKE_BITSET,
	FUTEX_WAIT_PRIVATE = 0x80,
};

static int futex(void *word, int operation, unsigned value, const struct timespec *timeout, void *second,
		 unsigned third)
{
	return (int)syscall(SYS_futex, word, operation, value, timeout, second, third);
}

static void pause_ms(long ms)
{
	struct timespec span = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&span, &span) && errno == EINTR)
		;
}

static volatile sig_atomic_t caught, caught_order[8];
static volatile pthread_t caught_in;

static void catch (int signo)
{
	if (caught < 8)
		caught_order[caught] = signo;
	caught++;
	caught_in = pthread_self();
}

static void handle(int signo, int flags)
{
	struct sigaction action = {.sa_handler = catch, .sa_flags = flags};

	sigaction(signo, &action, NULL);
	caught = 0;
}

static void *add_often(void *argument)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&mutex);
		++*(int *)argument;
		pthread_mutex_unlock(&mutex);
	}
	return argument;
}

SCENARIO(threads_add_under_a_mutex)
{
	pthread_t threads[4];
	int sum = 0;
	void *result;

	for (int i = 0; i < 4; i++)
		T(pthread_create(&threads[i], NULL, add_often, &sum));
	for (int i = 0; i < 4; i++)
		T(pthread_join(threads[i], &result));
	say("%d %d", sum, result == &sum);
}

SCENARIO(futex_errors)
{
	struct timespec soon = {0, 1000000}, bad = {0, 1000000000};
	int word = 5;

	T(futex(&word, FUTEX_WAIT, 4, NULL, NULL, 0));
	T(futex(&word, FUTEX_WAIT, 5, &soon, NULL, 0));
	T(futex(&word, FUTEX_WAIT, 5, &bad, NULL, 0));
	T(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0));
	T(futex((char *)&word + 1, FUTEX_WAKE, 1, NULL, NULL, 0));
	T(futex(&word, FUTEX_WAIT_BITSET, 5, NULL, NULL, 0));
	T(futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0));
	T(futex(&word, FUTEX_CMP_REQUEUE, 1, NULL, &word, 4));
	T(futex((void *)16, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
	T(futex(&word, 77, 0, NULL, NULL, 0));
}

SCENARIO(futex_between_processes)
{
	int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), status;
	pid_t child = fork();

	if (!child)
		_exit(futex(word, FUTEX_WAIT, 0, NULL, NULL, 0) ? 1 : 0);
	while (!futex(word, FUTEX_WAKE, 1, NULL, NULL, 0))
		pause_ms(1);
	T(waitpid(child, &status, 0) == child);
	say("%d", status);
}

static void *wait_on(void *word)
{
	futex(word, FUTEX_WAIT, 0, NULL, NULL, 0);
	return NULL;
}

SCENARIO(futex_in_a_file_mapped_twice)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	int *one, *two;
	pthread_t thread;

	ftruncate(fd, 8192);
	one = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	two = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	pthread_create(&thread, NULL, wait_on, one + 1024);
	while (!futex(two, FUTEX_WAKE, 1, NULL, NULL, 0))
		pause_ms(1);
	T(pthread_join(thread, NULL));
}

SCENARIO(futex_requeue)
{
	static int from, to;
	pthread_t threads[3];
	int found;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, wait_on, &from);
	/* Until all three wait: requeueing from here to here only counts them. */
	while (found = futex(&from, FUTEX_REQUEUE, 0, (void *)3, &from, 0), found > 0 && found < 3)
		pause_ms(1);
	pause_ms(50);
	T(futex(&from, FUTEX_CMP_REQUEUE, 1, (void *)1, &to, 0) >= 1);
	while (futex(&to, FUTEX_WAKE, 9, NULL, NULL, 0) + futex(&from, FUTEX_WAKE, 9, NULL, NULL, 0))
		pause_ms(1);
	for (int i = 0; i < 3; i++)
		T(pthread_join(threads[i], NULL));
}

static void *lock_and_end(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

SCENARIO(robust_mutex_of_a_dead_owner)
{
	static pthread_mutex_t mutex;
	pthread_mutexattr_t attributes;
	pthread_t thread;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attributes);
	pthread_create(&thread, NULL, lock_and_end, &mutex);
	pthread_join(thread, NULL);
	say("%d", pthread_mutex_lock(&mutex) == EOWNERDEAD);
	T(pthread_mutex_consistent(&mutex));
	T(pthread_mutex_unlock(&mutex));
}

static void *take_signal(void *ready)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	write(*(int *)ready, "x", 1);
	while (!caught)
		pause_ms(1);
	return (void *)(long)pthread_equal(caught_in, pthread_self());
}

SCENARIO(signal_goes_to_the_thread_that_takes_it)
{
	int ends[2];
	char byte;
	sigset_t set;
	pthread_t thread;
	void *result;

	handle(SIGUSR1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pipe(ends);
	pthread_create(&thread, NULL, take_signal, &ends[1]);
	read(ends[0], &byte, 1);
	T(kill(getpid(), SIGUSR1));
	pthread_join(thread, &result);
	say("%ld %d", (long)result, caught);
	T(pthread_kill(pthread_self(), SIGUSR1));
	T(sigpending(&set));
	say("%d %d", sigismember(&set, SIGUSR1), caught);
}

static int vforked[2], over[2]; /* pipes */

static void *fork_and_tell(void *unused)
{
	char byte;
	int status;
	pid_t child;

	read(vforked[0], &byte, 1);
	T(kill(getpid(), SIGUSR1)); /* for the first thread, which does not look */
	child = syscall(SYS_fork);
	if (!child)
		_exit(4);
	say("%d %d", child > 0, caught);
	T(waitpid(child, &status, 0) == child);
	write(over[1], "x", 1);
	return unused;
}

SCENARIO(fork_after_a_signal_for_another_thread)
{
	pthread_t thread;
	char byte;

	handle(SIGUSR1, 0);
	pipe(vforked);
	pipe(over);
	pthread_create(&thread, NULL, fork_and_tell, NULL);
	if (!vfork()) {
		write(vforked[1], "x", 1);
		read(over[0], &byte, 1);
		_exit(0);
	}
	pthread_join(thread, NULL);
	T(wait(NULL) > 0);
}

static char alternate[65536];
static int was_on_alternate;

static void look_at_stack(int signo)
{
	stack_t now;
	char here;

	sigaltstack(NULL, &now);
	was_on_alternate = (&here >= alternate && &here < alternate + sizeof(alternate)) * 2 +
			   (now.ss_flags == SS_ONSTACK);
	(void)signo;
}

SCENARIO(alternate_stack)
{
	stack_t stack = {.ss_sp = alternate, .ss_size = 1024}, old;
	struct sigaction action = {.sa_handler = look_at_stack, .sa_flags = SA_ONSTACK};

	T(sigaltstack(&stack, NULL));
	stack.ss_size = sizeof(alternate);
	T(sigaltstack(&stack, NULL));
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	say("%d", was_on_alternate);
	T(sigaltstack(NULL, &old));
	say("%d %d", old.ss_flags, old.ss_sp == alternate);
}

/* A child that sends us SIGUSR1, and a while later writes a byte. */
static pid_t disturb(int fd)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		return child;
	pause_ms(60);
	kill(parent, SIGUSR1);
	pause_ms(60);
	write(fd, "x", 1);
	_exit(3);
}

SCENARIO(interrupted_calls)
{
	int ends[2], status;
	char byte;
	struct timespec span = {5, 0}, left = {0, 0};
	struct pollfd poller;
	sigset_t none;
	pid_t child;

	pipe(ends);
	handle(SIGUSR1, SA_RESTART);
	child = disturb(ends[1]);
	T(read(ends[0], &byte, 1));
	T(waitpid(child, &status, 0) == child);
	child = disturb(ends[1]);
	T(waitpid(child, &status, 0) == child); /* begun again */
	read(ends[0], &byte, 1);
	say("%d %d", caught, status);

	poller = (struct pollfd){.fd = ends[0], .events = POLLIN};
	child = disturb(ends[1]);
	T(poll(&poller, 1, 5000)); /* never begun again */
	waitpid(child, &status, 0);
	read(ends[0], &byte, 1);
	child = disturb(ends[1]);
	T(nanosleep(&span, &left));
	say("%d", left.tv_sec >= 3 && left.tv_sec < 5);
	waitpid(child, &status, 0);
	read(ends[0], &byte, 1);
	child = disturb(ends[1]);
	sigemptyset(&none);
	T(sigsuspend(&none));
	waitpid(child, &status, 0);
	read(ends[0], &byte, 1);

	handle(SIGUSR1, 0);
	child = disturb(ends[1]);
	T(read(ends[0], &byte, 1));
	waitpid(child, &status, 0);
	read(ends[0], &byte, 1);
	child = disturb(ends[1]);
	T(waitpid(child, &status, 0));
	waitpid(child, &status, 0);
}

SCENARIO(stopped_sleep_goes_on)
{
	pid_t child = fork();
	int status;

	if (!child) {
		struct timespec span = {0, 150000000};

		_exit(nanosleep(&span, NULL) ? 1 : 0);
	}
	pause_ms(20);
	T(kill(child, SIGSTOP));
	T(waitpid(child, &status, WUNTRACED) == child);
	say("%x", status);
	T(kill(child, SIGCONT));
	T(waitpid(child, &status, WCONTINUED) == child);
	say("%x", status);
	T(waitpid(child, &status, 0) == child);
	say("%x", status);
}

static volatile int sent_by, sent_how;

static void take_sender(int signo, siginfo_t *info, void *context)
{
	(void)context;
	catch (signo);
	sent_by = info->si_pid;
	sent_how = info->si_code;
}

SCENARIO(pending_signals)
{
	struct sigaction action = {.sa_sigaction = take_sender, .sa_flags = SA_SIGINFO};
	struct timespec now = {0, 0};
	sigset_t set;
	siginfo_t info;

	sigfillset(&action.sa_mask); /* one handler after the other */
	sigaction(SIGRTMIN, &action, NULL);
	sigaction(SIGRTMIN + 2, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	caught = 0;
	T(kill(getpid(), SIGRTMIN + 2));
	T(kill(getpid(), SIGRTMIN));
	T(kill(getpid(), SIGUSR1));
	T(kill(getpid(), SIGUSR1));
	T(kill(getpid(), 65));
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 2);
	say("%d", sigtimedwait(&set, &info, &now) == SIGRTMIN + 2);
	say("%d %d", info.si_pid == getpid(), info.si_code == SI_USER);
	T(sigtimedwait(&set, &info, &now));
	sigfillset(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	say("%d by %d %d", caught, sent_by == getpid(), sent_how == SI_USER);
	say("%d %d", caught_order[0] == SIGUSR1, caught_order[1] == SIGRTMIN);
	T(pthread_kill(pthread_self(), SIGRTMIN + 2));
	say("%d by %d %d", caught, sent_by == getpid(), sent_how == SI_TKILL);
}

SCENARIO(orphaned_group_is_told)
{
	int ends[2];
	char byte = 0;
	pid_t middle;

	pipe(ends);
	middle = fork();
	if (!middle) {
		pid_t child = fork();

		if (!child) {
			setpgid(0, 0);
			handle(SIGHUP, 0);
			raise(SIGSTOP);
			while (!caught)
				pause_ms(1);
			write(ends[1], caught_order[0] == SIGHUP ? "h" : "?", 1);
			_exit(0);
		}
		setpgid(child, child);
		waitpid(child, NULL, WUNTRACED);
		_exit(0); /* which leaves the stopped group without anybody in its session */
	}
	setpgid(middle, middle);
	T(waitpid(middle, NULL, 0) == middle);
	T(read(ends[0], &byte, 1));
	say("%c", byte);
}

static void *exec_shell(void *unused)
{
	execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
	return unused;
}

static void *leave(void *unused)
{
	pause_ms(20);
	syscall(SYS_exit_group, 9);
	return unused;
}

SCENARIO(exec_and_exit_from_a_thread)
{
	int status;
	pid_t child = fork();
	pthread_t thread;

	if (!child) {
		pthread_create(&thread, NULL, exec_shell, NULL);
		for (;;)
			pause();
	}
	T(waitpid(child, &status, 0) == child);
	say("%x", status);
	child = fork();
	if (!child) {
		pthread_create(&thread, NULL, leave, NULL);
		for (;;)
			pause();
	}
	T(waitpid(child, &status, 0) == child);
	say("%x", status);
	child = fork();
	if (!child) {
		pthread_create(&thread, NULL, leave, NULL);
		syscall(SYS_exit, 5); /* the first thread alone */
	}
	T(waitpid(child, &status, 0) == child);
	say("%x", status);
}

static void *hold_registers(void *argument)
{
	double mine = (double)(long)argument * 1.25, sum = 0;

	for (int i = 0; i < 200; i++) {
		double seen = 0;

		__asm__ __volatile__("movsd %1, %%xmm9\n\t"
				     "movl $24, %%eax\n\tsyscall\n\t" /* sched_yield */
				     "movsd %%xmm9, %0"
				     : "=m"(seen)
				     : "m"(mine)
				     : "rax", "rcx", "r11", "xmm9", "memory");
		sum += seen == mine;
	}
	return (void *)(long)sum;
}

SCENARIO(vector_registers_of_each_thread)
{
	pthread_t threads[4];
	void *result;

	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, hold_registers, (void *)(i + 1));
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		say("%ld", (long)result);
	}
}

SCENARIO(interval_timers)
{
	struct itimerval value = {{0, 0}, {0, 30000}}, old;
	sigset_t none;

	sigemptyset(&none);
	handle(SIGALRM, 0);
	handle(SIGVTALRM, 0);
	handle(SIGPROF, 0);
	T(setitimer(ITIMER_REAL, &value, NULL));
	T(pause());
	T(getitimer(ITIMER_REAL, &old));
	say("%d %ld %ld", caught_order[0], (long)old.it_value.tv_sec, (long)old.it_value.tv_usec);
	caught = 0;
	T(setitimer(ITIMER_VIRTUAL, &value, NULL));
	while (!caught)
		;
	say("%d", caught_order[0]);
	caught = 0;
	T(setitimer(ITIMER_PROF, &value, NULL));
	while (!caught)
		;
	say("%d", caught_order[0]);
	T(alarm(100));
	T(alarm(0));
	T(alarm(0));
	value.it_value.tv_usec = 1000000;
	T(setitimer(ITIMER_REAL, &value, NULL));
	T(setitimer(3, NULL, NULL));
	T(getitimer(-1, &old));
}

SCENARIO(clone_flags_that_do_not_go_together)
{
	struct {
		uint64_t fields[11];
	} arguments = {{0}};

	T(syscall(SYS_clone, 0x10000 | 17, 0, 0, 0, 0)); /* a thread with handlers of its own */
	T(syscall(SYS_clone, 0x800 | 17, 0, 0, 0, 0));	  /* handlers, but not memory */
	T(syscall(SYS_clone3, &arguments, 40));
	T(syscall(SYS_clone3, &arguments, 8192));
	arguments.fields[0] = 17; /* the signal has a field of its own */
	T(syscall(SYS_clone3, &arguments, 64));
	arguments.fields[0] = 0;
	arguments.fields[5] = 4096; /* a stack without a size */
	T(syscall(SYS_clone3, &arguments, 64));
	arguments.fields[5] = 0;
	arguments.fields[4] = 65;
	T(syscall(SYS_clone3, &arguments, 64));
	T(syscall(SYS_clone3, (void *)8, 64));
	T(syscall(SYS_set_robust_list, 0, 23));
}

SCENARIO(limits)
{
	struct rlimit limit;
	void *end;

	AS(USER_A)
	{
		limit = (struct rlimit){1, 1};
		T(setrlimit(RLIMIT_NPROC, &limit));
		T(fork());
		limit = (struct rlimit){2, 2};
		T(setrlimit(RLIMIT_NPROC, &limit));
	}
	limit = (struct rlimit){5, 4};
	T(setrlimit(RLIMIT_NOFILE, &limit));
	limit = (struct rlimit){5, 8};
	T(setrlimit(RLIMIT_NOFILE, &limit));
	T(dup(0));
	T(dup(0));
	T(dup(0));
	T(dup2(0, 5));
	T(fcntl(0, F_DUPFD, 5));
	T(getrlimit(RLIMIT_NOFILE, &limit));
	say("%ld %ld", (long)limit.rlim_cur, (long)limit.rlim_max);
	limit = (struct rlimit){65536, 65536};
	T(setrlimit(RLIMIT_DATA, &limit));
	end = sbrk(0);
	say("%d", brk((char *)end + (1 << 20)) == -1);
	T(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	T(getrlimit(16, &limit));
	T(prlimit(1 << 30, RLIMIT_CORE, NULL, &limit));
}

static void make_script(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0755);

	write(fd, text, strlen(text));
	close(fd);
}

/* execve here or in a child, which shows its status. */
static void try_program(const char *name)
{
	pid_t child = fork();
	int status;

	if (!child) {
		char *const arguments[] = {(char *)name, "1", "2", NULL};

		execv(name, arguments);
		_exit(100 + errno);
	}
	waitpid(child, &status, 0);
	say("%s=%d", name, WEXITSTATUS(status));
}

SCENARIO(scripts)
{
	static char name[32], text[300];

	make_script("two", "#!/bin/sh\nexit $#");
	try_program("./two");
	make_script("argument", "#! /bin/sh  -e \t\nfalse\nexit 3");
	try_program("./argument");
	make_script("nested", "#!./two");
	try_program("./nested");
	make_script("with", "#!./two a b");
	try_program("./with");
	make_script("empty", "");
	try_program("./empty");
	make_script("nobody", "#!\n");
	try_program("./nobody");
	make_script("blank", "#!  \t \nexit 3\n");
	try_program("./blank");
	make_script("missing", "#!/no/such\n");
	try_program("./missing");
	make_script("folder", "#!/bin\n");
	try_program("./folder");
	make_script("self", "#!./self\n");
	try_program("./self");
	for (int i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "./deep%d", i);
		snprintf(text, sizeof(text), "#!%s\n", i ? "./deep" : "/bin/sh");
		if (i)
			snprintf(text, sizeof(text), "#!./deep%d\n", i - 1);
		else
			snprintf(text, sizeof(text), "#!/bin/true\n");
		make_script(name, text);
		try_program(name);
	}
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "#!/", 3);
	make_script("long", text);
	try_program("./long");
	memcpy(text, "#!/bin/true ", 12);
	make_script("longargument", text);
	try_program("./longargument");
	chmod("two", 0644);
	try_program("./two");
	try_program("./");
	try_program("./nowhere");
}

SCENARIO(exec_of_too_much)
{
	static char big[200000];
	char *const one[] = {"true", big, NULL};
	char *many[100], **volatile nowhere = (char **)8;
	struct rlimit limit = {1 << 20, 1 << 20};

	memset(big, 'x', sizeof(big) - 1);
	T(execv("/bin/true", one));
	big[130000] = 0;
	for (int i = 0; i < 99; i++)
		many[i] = big;
	many[99] = NULL;
	T(execv("/bin/true", many));
	setrlimit(RLIMIT_STACK, &limit);
	many[3] = NULL;
	T(execv("/bin/true", many));
	T(execv("/bin/true", nowhere));
	many[0] = (char *)nowhere;
	many[1] = NULL;
	T(execv("/bin/true", many));
}

SCENARIO(dumpable)
{
	T(prctl(PR_GET_DUMPABLE));
	AS(USER_A)
	{
		T(prctl(PR_GET_DUMPABLE));
		T(prctl(PR_SET_DUMPABLE, 1));
		T(prctl(PR_GET_DUMPABLE));
		T(prctl(PR_SET_DUMPABLE, 7));
	}
}

/* This program again, as `suid` and the like: what it has become is its exit status. */
__attribute__((constructor)) static void tell_secure(void)
{
	if (getenv("TELL_SECURE"))
		_exit(getauxval(AT_SECURE) * 8 + (geteuid() == 0) * 4 + (getegid() == 0) * 2 +
		      (prctl(PR_GET_DUMPABLE) == 1));
}

static void run_copy(const char *name)
{
	pid_t child = fork();
	int status;

	if (!child) {
		execle(name, name, (char *)NULL, (char *[]){"TELL_SECURE=1", NULL});
		_exit(100 + errno);
	}
	waitpid(child, &status, 0);
	say("%s=%d", name, WEXITSTATUS(status));
}

SCENARIO(set_id_programs)
{
	make_directory("nosuid");
	T(mount("none", "nosuid", "tmpfs", MS_NOSUID, NULL));
	copy_myself("plain", 0755);
	copy_myself("uid", 04755);
	copy_myself("gid", 02755);
	copy_myself("lockinggid", 02745); /* not a program to become somebody by */
	copy_myself("unreadable", 0711);
	copy_myself("nosuid/uid", 04755);
	run_copy("./uid");
	AS(USER_A)
	{
		run_copy("./plain");
		run_copy("./uid");
		run_copy("./gid");
		run_copy("./unreadable");
		run_copy("./nosuid/uid");
	}
	T(umount("nosuid"));
}

extern char **environ;

SCENARIO(auxiliary_vector)
{
	extern char _start[];
	const unsigned char *random = (void *)getauxval(AT_RANDOM);
	char **end = environ;

	while (*end)
		end++;
	say("%ld %ld %ld", getauxval(AT_PAGESZ), getauxval(AT_CLKTCK), getauxval(AT_PHENT));
	say("%ld %ld %ld", getauxval(AT_SECURE), getauxval(AT_BASE), getauxval(AT_FLAGS));
	say("%ld %ld %ld", getauxval(AT_UID), getauxval(AT_EUID), getauxval(AT_GID));
	say("%s %d", (char *)getauxval(AT_PLATFORM), getauxval(AT_ENTRY) == (unsigned long)_start);
	say("%d", random[0] || random[1] || random[2]);
	say("%d", getauxval(AT_EXECFN) > (unsigned long)end && !strcmp(strrchr((char *)getauxval(AT_EXECFN), '/'),
									strrchr(program_invocation_name, '/')));
	say("%d", getauxval(51) >= 1024); /* AT_MINSIGSTKSZ */
}
