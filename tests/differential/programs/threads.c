/*
 * threads.c - scenarios of threads, futexes and limits.
 *
 * Nothing here is decided by who is faster: threads meet by joins, pipes and futexes.
 */
#include "../scenarios.h"

#include <pthread.h>
#include <sched.h>
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

static void *end_with_9(void *unused)
{
	pause_ms(20);
	syscall(SYS_exit, 9);
	return unused;
}

SCENARIO(the_last_thread_to_end_says_the_status)
{
	int status;
	pid_t child = fork();
	pthread_t thread;

	if (!child) {
		pthread_create(&thread, NULL, end_with_9, NULL);
		syscall(SYS_exit, 3);
	}
	T(waitpid(child, &status, 0) == child);
	say("%x", status);
}

static void *close_in_a_table_of_ones_own(void *unused)
{
	enum { CLOSE_RANGE_UNSHARE = 2 };

	say("%d", (int)syscall(SYS_close_range, 40, 40, CLOSE_RANGE_UNSHARE));
	say("%d", fcntl(40, F_GETFD));
	return unused;
}

SCENARIO(close_range_of_one_thread_alone)
{
	pthread_t thread;

	T(dup2(1, 40));
	pthread_create(&thread, NULL, close_in_a_table_of_ones_own, NULL);
	pthread_join(thread, NULL);
	T(fcntl(40, F_GETFD));
	T(syscall(SYS_close_range, 40, 40, 2 | 4));
	T(fcntl(40, F_GETFD));
}

/* What is not shared need not be unshared: record locks are still the process's. */
SCENARIO(close_range_keeps_the_locks_of_who_is_alone)
{
	struct flock lock = {.l_type = F_WRLCK};
	int fd = open("f", O_CREAT | O_RDWR, 0600), status;

	T(fcntl(fd, F_SETLK, &lock));
	T(syscall(SYS_close_range, 100, ~0u, 2));
	if (!fork())
		_exit(fcntl(fd, F_SETLK, &lock) == 0);
	wait(&status);
	say("%x", status);
}

/* With no time to go it is off, whatever the period. */
SCENARIO(a_timer_that_is_off_has_no_period)
{
	struct itimerval value = {.it_interval = {5, 0}};

	T(setitimer(ITIMER_REAL, &value, NULL));
	value.it_interval.tv_sec = 9;
	T(getitimer(ITIMER_REAL, &value));
	say("%ld %ld", (long)value.it_interval.tv_sec, (long)value.it_value.tv_sec);
}

/* Stopped while it sleeps, it is made again, with an argument that has become bad. */
SCENARIO(a_sleep_that_was_stopped_ends_when_it_would_have)
{
	struct shared {
		struct timespec time;
		int slept;
		long waited_ms;
	} *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	shared->time = (struct timespec){0, 100000000};
	pid_t child = fork();

	if (!child) {
		struct timespec before, after;

		shared->slept = nanosleep(&shared->time, NULL);
		clock_gettime(CLOCK_MONOTONIC, &before);
		poll(NULL, 0, 400);
		clock_gettime(CLOCK_MONOTONIC, &after);
		shared->waited_ms = (after.tv_sec - before.tv_sec) * 1000 +
				    (after.tv_nsec - before.tv_nsec) / 1000000;
		_exit(0);
	}
	until_asleep(child);
	kill(child, SIGSTOP);
	waitpid(child, &status, WUNTRACED);
	shared->time.tv_nsec = -1;
	pause_ms(150);
	kill(child, SIGCONT);
	waitpid(child, &status, 0);
	say("%d %d", shared->slept, shared->waited_ms >= 390);
}

/* Who waits for a thread's end is told when that runs another program, as its memory is left then. */
__attribute__((constructor)) static void end_at_once(void)
{
	if (getenv("END_AT_ONCE"))
		_exit(0);
}

static int run_another(void *unused)
{
	(void)unused;
	execle("program", "program", (char *)NULL, (char *[]){"END_AT_ONCE=1", NULL});
	_exit(9);
}

SCENARIO(an_exec_ends_the_thread)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	static volatile int word = 77;
	struct timespec limit = {3, 0};
	int status = -1;
	pid_t child;

	copy_myself("program", 0755);
	child = clone(run_another, stack + sizeof(stack), CLONE_VM | CLONE_CHILD_CLEARTID | SIGCHLD, NULL, NULL, NULL,
		      (void *)&word);
	T(child > 0);
	if (word)
		futex((void *)&word, FUTEX_WAIT, 77, &limit, NULL, 0);
	T(word);
	T(waitpid(child, &status, 0) == child);
	T(status);
}

SCENARIO(the_limit_of_processes_is_not_for_who_may_all)
{
	pid_t child = fork();

	if (!child) {
		struct rlimit limit = {1, 1};

		T(setrlimit(RLIMIT_NPROC, &limit));
		T(setresuid(USER_B, 0, 0));
		child = fork();
		if (!child)
			_exit(0);
		T(child > 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}
