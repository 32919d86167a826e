/*
 * together.c - what the threads of a process on several CPUs must see of each other's doings at
 * once: a page that is replaced, protected, given up or cut off while another CPU has its old
 * translation in hand; a sleeper that is woken while everybody else computes.
 *
 * A plain Linux program that holds on Linux as well. Usage: together DIRECTORY. Prints "ok NAME" or
 * "not ok NAME: where" for each part; the first failure ends it with status 1, since what follows
 * might wait for ever. Nothing is measured: what should come and does not come is a hang, and the
 * one who started the machine ends it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define ROUNDS 60
#define WRITE_BACKS 20

static int failed_line;
static long cpus;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			if (!failed_line)                                                          \
				failed_line = __LINE__;                                            \
			return;                                                                    \
		}                                                                                  \
	} while (0)

/* Wait without a system call, so that nothing makes this CPU forget a translation. */
#define AWAIT(condition)                                                                           \
	do {                                                                                       \
		if (cpus == 1)                                                                     \
			sched_yield();                                                             \
	} while (!(condition))

static __thread sigjmp_buf fault_return;

static void on_fault(int number)
{
	siglongjmp(fault_return, number);
}

/* The byte there, or -SIGNAL. */
static int look(const volatile char *address)
{
	int fault = sigsetjmp(fault_return, 0);

	return fault ? -fault : *address;
}

/* ---- one changes, another looks ---------------------------------------------------------------
 */

static volatile char *area;
static int file;
static volatile int ready, changed, done, seen_before, seen_after;

/* In each round: bring the translation here, keep it in use until the change has been made, look.
 */
static void *watch(void *argument)
{
	for (int round = 1; round <= ROUNDS; round++) {
		AWAIT(ready == round);
		seen_before = look(area);
		done = -round;
		AWAIT(changed == round || look(area) == 99);
		seen_after = look(area);
		done = round;
	}
	return argument;
}

/* @prepare sets area; @change is made while another CPU looks: it sees @before, and then @after at
 * once. */
static void change_while_watched(void (*prepare)(void), void (*change)(void), int before, int after)
{
	pthread_t watcher;

	ready = changed = done = 0;
	CHECK(pthread_create(&watcher, NULL, watch, NULL) == 0);
	for (int round = 1; round <= ROUNDS; round++) {
		prepare();
		ready = round;
		AWAIT(done == -round);
		change();
		changed = round;
		AWAIT(done == round);
		if (seen_before != before || seen_after != after)
			failed_line = failed_line ? failed_line : __LINE__;
		munmap((void *)area, PAGE);
	}
	pthread_join(watcher, NULL);
}

static void map_private(void)
{
	area = mmap(NULL, PAGE, RW, MAP_PRIVATE, file, 0);
}

static void map_shared(void)
{
	if (ftruncate(file, PAGE) || pwrite(file, "f", 1, 0) != 1)
		failed_line = __LINE__;
	area = mmap(NULL, PAGE, RW, MAP_SHARED, file, 0);
}

static void map_filled(void)
{
	area = mmap(NULL, PAGE, RW, ANON, -1, 0);
	*area = 'a';
}

static void store(void)
{
	*area = 'x';
}

/* The page is a child's, too: the first store replaces it. */
static void share_and_store(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	(void)*area;
	waitpid(child, NULL, 0);
	*area = 'x';
}

static void store_in_kernel(void)
{
	if (pread(file, (void *)area, 1, 1) != 1)
		failed_line = __LINE__;
}

static void map_readable(void)
{
	map_filled();
	mprotect((void *)area, PAGE, PROT_READ);
}

static void give_up(void)
{
	madvise((void *)area, PAGE, MADV_DONTNEED);
}

static void map_another(void)
{
	mmap((void *)area, PAGE, RW, ANON | MAP_FIXED, -1, 0);
}

static void forbid(void)
{
	mprotect((void *)area, PAGE, PROT_NONE);
}

static void unmap(void)
{
	munmap((void *)area, PAGE);
}

static void cut(void)
{
	if (ftruncate(file, 0))
		failed_line = __LINE__;
}

static void file_page_is_replaced(void)
{
	change_while_watched(map_private, store, 'f', 'x');
}

static void forked_page_is_replaced(void)
{
	change_while_watched(map_filled, share_and_store, 'a', 'x');
}

static void page_is_replaced_by_the_kernel(void)
{
	change_while_watched(map_private, store_in_kernel, 'f', 'g');
}

static void page_is_given_up(void)
{
	change_while_watched(map_filled, give_up, 'a', 0);
}

static void page_is_mapped_over(void)
{
	change_while_watched(map_readable, map_another, 'a', 0);
}

static void page_is_forbidden(void)
{
	change_while_watched(map_filled, forbid, 'a', -SIGSEGV);
}

static void page_is_unmapped(void)
{
	change_while_watched(map_readable, unmap, 'a', -SIGSEGV);
}

static void file_is_cut(void)
{
	change_while_watched(map_shared, cut, 'f', -SIGBUS);
}

/* ---- one stores on and on ---------------------------------------------------------------------
 */

static volatile long *counter, *progress; /* progress is shared with children */
static volatile int stopped, end;

static void *count(void *argument)
{
	if (!sigsetjmp(fault_return, 0))
		while (!end) {
			++*counter;
			++*progress;
		}
	stopped = 1;
	return argument;
}

static void start_counting(pthread_t *thread)
{
	counter = mmap(NULL, PAGE, RW, ANON, -1, 0);
	progress = mmap(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	stopped = end = 0;
	pthread_create(thread, NULL, count, NULL);
	AWAIT(*progress > 1000);
}

static void stop_counting(pthread_t thread)
{
	end = 1;
	pthread_join(thread, NULL);
	munmap((void *)counter, PAGE);
	munmap((void *)progress, PAGE);
}

/* Once mprotect() is back, no CPU stores there any more. */
static void stores_end_with_the_right(void)
{
	for (int round = 0; round < 8; round++) {
		pthread_t thread;
		long value;

		start_counting(&thread);
		CHECK(mprotect((void *)counter, PAGE, PROT_READ) == 0);
		value = *counter;
		AWAIT(stopped || *counter != value);
		CHECK(stopped && *counter == value);
		stop_counting(thread);
	}
}

/* What a thread stores after a fork is its own process's: the child never sees it. */
static void stores_behind_a_fork_are_not_the_childs(void)
{
	for (int round = 0; round < 8; round++) {
		pthread_t thread;
		int status = -1;
		pid_t child;

		start_counting(&thread);
		child = fork();
		if (!child) {
			long value = *counter, moment = *progress;

			while (*progress < moment + 1000)
				sched_yield();
			_exit(*counter != value);
		}
		waitpid(child, &status, 0);
		stop_counting(thread);
		CHECK(status == 0);
	}
}

/* A store behind a write-back makes the page dirty again, though the CPU knew it as writable. */
static void *store_twice(void *argument)
{
	for (int round = 1; round <= WRITE_BACKS; round++) {
		AWAIT(ready == round);
		*area = 'y';
		done = -round;
		AWAIT(changed == round);
		*area = 'z';
		done = round;
	}
	return argument;
}

static void forget_clean_pages(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	if (access("/proc/chainwalk", F_OK) == 0 && write(fd, "3\n", 2) != 2)
		failed_line = __LINE__;
	close(fd);
}

static void stores_behind_a_write_back_are_kept(void)
{
	pthread_t thread;
	char byte = 0;

	ready = changed = done = 0;
	CHECK(pthread_create(&thread, NULL, store_twice, NULL) == 0);
	for (int round = 1; round <= WRITE_BACKS; round++) {
		map_shared();
		ready = round;
		AWAIT(done == -round);
		if (fsync(file))
			failed_line = __LINE__;
		changed = round;
		AWAIT(done == round);
		munmap((void *)area, PAGE);
		forget_clean_pages();
		if (pread(file, &byte, 1, 0) != 1 || byte != 'z')
			failed_line = failed_line ? failed_line : __LINE__;
	}
	pthread_join(thread, NULL);
}

/* ---- waking -----------------------------------------------------------------------------------
 */

static int ends[2];
static volatile int woken, late;

static void *sleep_often(void *argument)
{
	char byte;

	while (read(ends[0], &byte, 1) == 1)
		woken++;
	return argument;
}

static void on_late(int number)
{
	late = number;
}

/*
 * Whoever is woken runs on a CPU that has nothing to do, though the waker goes on computing: not
 * only when some other interrupt comes there, as a kernel thread's does now and then. Nobody has to
 * be fast: the waker has 20 ticks for itself alone before a round counts as missed, and half of
 * them may be.
 */
static void sleeper_runs_while_its_waker_computes(void)
{
	pthread_t thread;
	int missed = 0;

	CHECK(pipe(ends) == 0);
	woken = 0;
	signal(SIGVTALRM, on_late);
	pthread_create(&thread, NULL, sleep_often, NULL);
	for (int round = 1; round <= ROUNDS; round++) {
		usleep(30000); /* asleep again, its CPU idle, and its last tick over */
		if (write(ends[1], "x", 1) != 1)
			failed_line = __LINE__;
		late = 0;
		setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {0, 200000}}, NULL);
		AWAIT(woken == round);
		missed += late != 0;
	}
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){0}, NULL);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	CHECK(missed < ROUNDS / 2);
}

/* ---- timers -----------------------------------------------------------------------------------
 */

static volatile int over;

static void *set_often(__attribute__((unused)) void *nothing)
{
	const struct itimerval later = {.it_value.tv_sec = 1000};

	while (!over)
		setitimer(ITIMER_REAL, &later, NULL);
	return NULL;
}

/* The timer of a process goes from CPU to CPU with who sets it; those of sleepers stand in the same
 * lists. */
static void timer_is_set_by_all(void)
{
	pthread_t threads[3];

	over = 0;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, set_often, NULL);
	for (int round = 0; round < 3 * ROUNDS; round++)
		usleep(500);
	over = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}

/* ---- all --------------------------------------------------------------------------------------
 */

#define PART(name)                                                                                 \
	{                                                                                          \
#name, name                                                                        \
	}
static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	PART(file_page_is_replaced),
	PART(forked_page_is_replaced),
	PART(page_is_replaced_by_the_kernel),
	PART(page_is_given_up),
	PART(page_is_mapped_over),
	PART(page_is_forbidden),
	PART(page_is_unmapped),
	PART(file_is_cut),
	PART(stores_end_with_the_right),
	PART(stores_behind_a_fork_are_not_the_childs),
	PART(stores_behind_a_write_back_are_kept),
	PART(sleeper_runs_while_its_waker_computes),
	PART(timer_is_set_by_all),
};

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};

	setvbuf(stdout, NULL, _IONBF, 0);
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	file = argc > 1 && chdir(argv[1]) == 0 ? open("watched", O_CREAT | O_RDWR, 0600) : -1;
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (argc > 2 && strcmp(argv[2], parts[i].name) != 0)
			continue;
		failed_line = 0;
		if (ftruncate(file, PAGE) || pwrite(file, "fg", 2, 0) != 2)
			failed_line = __LINE__;
		parts[i].run();
		if (failed_line) {
			printf("not ok %s: line %d\n", parts[i].name, failed_line);
			return 1;
		}
		printf("ok %s\n", parts[i].name);
	}
	unlink("watched");
	return 0;
}
