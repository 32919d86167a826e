/*
 * threads.c - threads that end, execute, fault, hold locks and take signals while others do other things.
 */
#include "hostile.h"

#define THREADS 12
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *add(void *argument)
{
	for (int i = 0; i < 2000; i++) {
		pthread_mutex_lock(&mutex);
		total++;
		pthread_mutex_unlock(&mutex);
	}
	return argument;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];
	void *result;

	for (int round = 0; round < 5; round++) {
		for (long i = 0; i < THREADS; i++)
			check(!pthread_create(&threads[i], NULL, add, (void *)i), "pthread_create", i);
		for (long i = 0; i < THREADS; i++)
			check(!pthread_join(threads[i], &result) && result == (void *)i, "pthread_join", i);
	}
	check(total == 5L * THREADS * 2000, "the sum", total);
	_exit(wrong ? 1 : 0);
}

static void *sleep_long(void *argument)
{
	pause_ms(60000);
	return argument;
}

static void *spin(void *argument)
{
	for (;;)
		getppid();
	return argument;
}

static void *end_process(void *argument)
{
	(void)argument;
	pause_ms(50);
	_exit(44);
}

static void *execute(void *argument)
{
	char *argv[] = {"hostile", "exec-of-thread", argument, NULL};

	execv("/proc/self/exe", argv);
	_exit(98);
}

/* In the new program: it has the number that the process always had, and one thread. */
int exec_of_thread(void)
{
	return syscall(SYS_gettid) == getpid() ? 45 : 1;
}

static void start(void *(*function)(void *), int n)
{
	pthread_t thread;

	while (n-- > 0)
		check(!pthread_create(&thread, NULL, function, NULL), "pthread_create", n);
}

static void exit_of_one(void)
{
	start(sleep_long, 4);
	start(spin, 2);
	start(end_process, 1);
	pause_ms(60000);
}

static void exec_of_one(void)
{
	start(sleep_long, 4);
	start(spin, 2);
	start(execute, 1);
	pause_ms(60000);
}

static void fault_of_one(void)
{
	start(sleep_long, 4);
	start((void *(*)(void *))8, 1);
	pause_ms(60000);
}

static void first_thread_leaves(void)
{
	start(end_process, 1);
	syscall(SYS_exit, 0);
}

static void killed_with_threads(void)
{
	start(sleep_long, 4);
	start(spin, 2);
	kill(getpid(), SIGKILL);
	pause_ms(60000);
}

static void *hold(void *argument)
{
	pthread_mutex_lock(argument);
	return NULL; /* and never lets it go */
}

static void robust_mutex(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t robust;
	pthread_t thread;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	pthread_create(&thread, NULL, hold, &robust);
	pthread_join(thread, NULL);
	_exit(pthread_mutex_lock(&robust) == EOWNERDEAD && !pthread_mutex_consistent(&robust) ? 0 : 1);
}

static void *take_signals(void *argument)
{
	sigset_t set;
	int signo;

	(void)argument;
	sigfillset(&set);
	sigwait(&set, &signo);
	_exit(signo == SIGUSR2 ? 46 : 1);
}

static void signal_for_another(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	start(take_signals, 1);
	pause_ms(50);
	kill(getpid(), SIGUSR2);
	pause_ms(60000);
}

static void stop_all_threads(void)
{
	start(spin, 2);
	pause_ms(20);
	raise(SIGSTOP);
	_exit(47);
}

void test_threads(void)
{
	static const struct {
		const char *name;
		void (*function)(void);
		int signo, status;
	} parts[] = {
		{"a sum", run_threads, 0, 0},
		{"exit_group of one", exit_of_one, 0, 44},
		{"execve of one", exec_of_one, 0, 45},
		{"a fault of one", fault_of_one, SIGSEGV, 0},
		{"the first thread leaves", first_thread_leaves, 0, 44},
		{"SIGKILL", killed_with_threads, SIGKILL, 0},
		{"a robust mutex", robust_mutex, 0, 0},
		{"a signal for another thread", signal_for_another, 0, 46},
	};
	int status;
	pid_t pid;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		status = in_child(parts[i].function);
		if (parts[i].signo)
			check(WIFSIGNALED(status) && WTERMSIG(status) == parts[i].signo, parts[i].name, status);
		else
			check(WIFEXITED(status) && WEXITSTATUS(status) == parts[i].status, parts[i].name, status);
	}
	fflush(stdout);
	pid = must_fork();
	if (!pid)
		stop_all_threads();
	check(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "a stop of all", status);
	kill(pid, SIGCONT);
	check(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 47, "and on", status);
}
