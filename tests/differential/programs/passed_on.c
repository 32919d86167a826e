/*
 * passed_on.c - what one process or thread passes on to another: its limits to children, the time
 * it used to its parents, semaphores and signals to those who wait for them.
 *
 * Some children are given a moment so that they wait by then; were they late, they would find done
 * what they wait for.
 */
#include "../scenarios.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/times.h>

enum { FUTEX_WAIT };
#define FUTEX_WAITERS 0x80000000u
#define FUTEX_OWNER_DIED 0x40000000u
#define MOMENT 100000

static void how_it_ends(pid_t child)
{
	int status = -1;

	T(waitpid(child, &status, 0) == child);
	T(status);
}

/* ---- limits --------------------------------------------------------------------------------- */

/* The limit counts for children, too, and for theirs, be it lower or higher than the usual. */
SCENARIO(limit_of_files_in_children)
{
	struct rlimit limit = {20, 4096};
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(setrlimit(RLIMIT_NOFILE, &limit));
	AS(0)
	{
		T(fcntl(fd, F_DUPFD, 19));
		T(fcntl(fd, F_DUPFD, 20));
		T(dup2(fd, 20));
		AS(0)
			T(dup2(fd, 100));
	}
	limit.rlim_cur = 3000;
	T(setrlimit(RLIMIT_NOFILE, &limit));
	AS(0)
	{
		T(dup2(fd, 2999));
		T(dup2(fd, 3000));
		AS(0)
			T(fcntl(fd, F_DUPFD, 2000));
		limit.rlim_cur = 50;
		T(setrlimit(RLIMIT_NOFILE, &limit));
	}
	T(dup2(fd, 2998));
}

/* ---- time ----------------------------------------------------------------------------------- */

#define BURNT_MS 120

static long used_ms(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000 +
	       (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1000;
}

static void burn(void)
{
	struct rusage usage;

	do
		getrusage(RUSAGE_SELF, &usage);
	while (used_ms(&usage) < BURNT_MS);
}

/* A grandchild's time is the child's once it has waited for it, and so ours, wherever one asks. */
SCENARIO(time_of_grandchildren)
{
	struct rusage usage;
	struct tms times_before, times_now;
	int status;

	times(&times_before);
	if (!fork()) {
		pid_t grandchild = fork();

		if (!grandchild) {
			burn();
			_exit(0);
		}
		waitpid(grandchild, NULL, 0);
		getrusage(RUSAGE_CHILDREN, &usage);
		_exit(used_ms(&usage) >= BURNT_MS / 2 ? 7 : 8);
	}
	T(wait4(-1, &status, 0, &usage) > 0);
	T(WEXITSTATUS(status));
	T(used_ms(&usage) >= BURNT_MS / 2);
	getrusage(RUSAGE_CHILDREN, &usage);
	T(used_ms(&usage) >= BURNT_MS / 2);
	times(&times_now);
	T((times_now.tms_cutime + times_now.tms_cstime - times_before.tms_cutime -
	   times_before.tms_cstime) * 1000 / sysconf(_SC_CLK_TCK) >= BURNT_MS / 2);
}

/* ---- semaphores ----------------------------------------------------------------------------- */

/* A child that has changed the semaphore, to be undone, and lives until it is killed. */
static pid_t holder(int id, short change)
{
	pid_t child;
	int ready[2];
	char byte;

	pipe(ready);
	child = fork();
	if (!child) {
		semop(id, &(struct sembuf){0, change, SEM_UNDO}, 1);
		write(ready[1], "x", 1);
		for (;;)
			pause();
	}
	read(ready[0], &byte, 1);
	close(ready[0]);
	close(ready[1]);
	return child;
}

static pid_t waiter(int id, short change)
{
	pid_t child = fork();

	if (!child)
		_exit(semop(id, &(struct sembuf){0, change, 0}, 1) ? 1 : 0);
	usleep(MOMENT);
	return child;
}

/* Who ends, by a signal, has its changes undone, and those who wait for that go on. */
SCENARIO(semaphores_of_the_dead)
{
	int id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	pid_t held, waits, second;

	T(semop(id, &(struct sembuf){0, 1, 0}, 1));
	held = holder(id, -1);
	T(semctl(id, 0, GETVAL));
	waits = waiter(id, -1);
	T(kill(held, SIGKILL));
	how_it_ends(held);
	how_it_ends(waits);
	T(semctl(id, 0, GETVAL));
	held = holder(id, 5);
	waits = waiter(id, 0);
	second = waiter(id, 0);
	while (semctl(id, 0, GETZCNT) < 2)
		usleep(1000);
	T(kill(held, SIGTERM));
	how_it_ends(held);
	how_it_ends(waits);
	how_it_ends(second);
	T(semctl(id, 0, GETVAL));
	T(semctl(id, 0, IPC_RMID));
}

/* ---- signals -------------------------------------------------------------------------------- */

#define ROUNDS 4
#define LOCKS 256
#define DISTANCE (64 * 1024)

struct lock {
	struct lock *next;
	unsigned word;
};

static struct {
	struct lock *next;
	long offset;
	void *pending;
} locks = {.offset = sizeof(void *)};

static int start[2], taken[2];
static _Thread_local char thread_name;

static void on_signal(int signo)
{
	(void)signo;
	write(taken[1], &thread_name, 1);
	syscall(SYS_exit, 0);
}

static void take_signals(char name)
{
	sigset_t set;

	thread_name = name;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	write(taken[1], "r", 1);
}

/* Ends while it owns the first lock of a long list. */
static void *end_slowly(void *unused)
{
	unsigned tid = (unsigned)syscall(SYS_gettid);
	char byte;

	take_signals('1');
	read(start[0], &byte, 1);
	__atomic_store_n(&locks.next->word, tid | FUTEX_WAITERS, __ATOMIC_SEQ_CST);
	syscall(SYS_set_robust_list, &locks, sizeof(locks));
	syscall(SYS_exit, 0);
	return unused;
}

static void *sleep_on(void *unused)
{
	take_signals('2');
	for (;;)
		pause();
	return unused;
}

/* Memory of a file that is to be found page by page; on ext2, one waits for the disk at each. */
static void make_locks(void)
{
	const size_t size = (size_t)LOCKS * DISTANCE;
	int fd = open("locks", O_CREAT | O_TRUNC | O_RDWR, 0600);
	char *at;

	ftruncate(fd, (off_t)size);
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (size_t i = 0; i < size; i += DISTANCE)
		((struct lock *)(at + i))->next = (struct lock *)(at + (i + DISTANCE) % size);
	munmap(at, size);
	drop_caches();
	mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	locks.next = (struct lock *)at;
	close(fd);
}

/* Until the first lock's owner has died: it has many more to look at. */
static void wait_for_the_end(void)
{
	unsigned *word = &locks.next->word, seen;

	while (!((seen = __atomic_load_n(word, __ATOMIC_SEQ_CST)) & FUTEX_OWNER_DIED))
		if (seen)
			syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
		else
			usleep(1000);
}

/* The name of the thread that takes a signal when the first one that could is on its way out. */
static char taker(void)
{
	pthread_t thread;
	char byte;

	make_locks();
	pthread_create(&thread, NULL, end_slowly, NULL);
	read(taken[0], &byte, 1);
	pthread_create(&thread, NULL, sleep_on, NULL);
	read(taken[0], &byte, 1);
	usleep(MOMENT / 10);
	write(start[1], "x", 1);
	wait_for_the_end();
	kill(getpid(), SIGUSR1);
	read(taken[0], &byte, 1);
	return byte;
}

/*
 * In memory, the first thread may have gone before the signal comes, which is as good; where its
 * list is on a disk it has not.
 */
SCENARIO(signals_for_threads_that_end)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	char takers[ROUNDS + 1] = "";
	sigset_t set;

	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pipe(start);
	pipe(taken);
	for (int i = 0; i < ROUNDS; i++)
		takers[i] = taker();
	say("%s", takers);
}

/* One asks for the limits of what runs as the same user, and sets them; not for a stranger's. */
SCENARIO(limits_of_another_process)
{
	struct rlimit limit = {7, 8};
	pid_t stranger = fork();

	while (!stranger)
		pause();
	AS(USER_A)
	{
		T(prctl(PR_SET_DUMPABLE, 1)); /* as after execve(2) */
		pid_t child = fork();

		while (!child)
			pause();
		T(prlimit(child, RLIMIT_CORE, &limit, NULL));
		limit = (struct rlimit){0, 0};
		T(prlimit(child, RLIMIT_CORE, NULL, &limit));
		say("%d %d", (int)limit.rlim_cur, (int)limit.rlim_max);
		limit.rlim_max = 9;
		T(prlimit(child, RLIMIT_CORE, &limit, NULL));
		T(prlimit(stranger, RLIMIT_CORE, NULL, &limit));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
}
