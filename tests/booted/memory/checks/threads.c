/*
 * threads.c - threads that map, fault and fork at once; a file that shrinks under its mappings.
 */
#include "memory.h"

static volatile int stop;
static volatile unsigned long errors_seen;

/* Of @many rounds that beside other CPUs take a millisecond each: with one CPU each sleep lasts the
 * others' whole time slices, and a quarter of the rounds shows them as many switches. */
static int rounds(int many)
{
	return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? many : many / 4;
}

static void *toucher(void *argument)
{
	char *p = argument;

	for (unsigned long round = 0; !stop; round++)
		for (int i = 0; i < 64; i++)
			__atomic_fetch_add((unsigned *)(p + i * PAGE), 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *mapper(void *argument)
{
	(void)argument;
	while (!stop) {
		char *p = map(16, RW, ANON);

		if (!p) {
			errors_seen++;
			continue;
		}
		for (int i = 0; i < 16; i++) {
			errors_seen += p[i * PAGE] != 0;
			p[i * PAGE] = 1;
		}
		munmap(p, 16 * PAGE);
	}
	return NULL;
}

static void nothing(void)
{
}

static void threads_and_fork(void)
{
	pthread_t threads[4];
	char *p = map(64, RW, ANON);

	CHECK(p);
	stop = 0;
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, i & 1 ? mapper : toucher, p) == 0);
	for (int i = rounds(50); i > 0; i--) {
		CHECK(in_child(nothing) == 0);
		CHECK(mprotect(p, 64 * PAGE, RW) == 0);
		usleep(1000);
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(errors_seen == 0 && munmap(p, 64 * PAGE) == 0);
}

static char *filled_by_four;

static void *filler(void *first)
{
	for (char *p = first; p < filled_by_four + 4096 * PAGE; p += 4 * PAGE)
		*p = 1;
	return NULL;
}

/* Faults of several threads count the pages of one file. */
static void blocks_are_counted(void)
{
	int fd = memfd_create("blocks", 0);
	pthread_t threads[4];
	struct stat status;

	CHECK(fd >= 0 && ftruncate(fd, 4096 * PAGE) == 0);
	filled_by_four = mmap(NULL, 4096 * PAGE, RW, MAP_SHARED, fd, 0);
	CHECK(filled_by_four != MAP_FAILED);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, filler, filled_by_four + i * PAGE) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(fstat(fd, &status) == 0 && status.st_blocks == 4096 * PAGE / 512);
	CHECK(munmap(filled_by_four, 4096 * PAGE) == 0 && close(fd) == 0);
}

/* ---- races ----------------------------------------------------------------------------------- */

static char *shared_area;

static void touch_for_ever(int seed)
{
	unsigned random = (unsigned)seed;

	for (;;) {
		random = random * 1103515245 + 12345;
		char *p = shared_area + (random >> 8) % 64 * PAGE;

		if (random & 64)
			try_write(p);
		else
			try_read(p);
		if (!(random >> 8 & 255))
			madvise(shared_area, 64 * PAGE, MADV_DONTNEED);
	}
}

/* A file shrinks and grows while others write to it through mappings: they get SIGBUS, or pages of
 * zeros. */
static void truncation_race(void)
{
	int fd = make_file("race", 64);
	pid_t children[4];
	char page[PAGE];

	shared_area = mmap(NULL, 64 * PAGE, RW, MAP_SHARED, fd, 0);
	CHECK(fd >= 0 && shared_area != MAP_FAILED);
	for (int i = 0; i < 4; i++) {
		children[i] = fork();
		CHECK(children[i] >= 0);
		if (!children[i])
			touch_for_ever(i + 1);
	}
	for (int round = 0, end = rounds(100); round < end; round++) {
		CHECK(ftruncate(fd, (round * 37 % 64) * (long)PAGE + 5) == 0);
		usleep(500);
		CHECK(ftruncate(fd, 64 * (long)PAGE) == 0);
		CHECK(pwrite(fd, "x", 1, (round * 11 % 64) * (long)PAGE) == 1);
		if (round % 8 == 0)
			CHECK(msync(shared_area, 64 * PAGE, MS_SYNC) == 0);
		usleep(500);
	}
	for (int i = 0; i < 4; i++) {
		int status;

		kill(children[i], SIGKILL);
		CHECK(waitpid(children[i], &status, 0) == children[i] &&
		      WTERMSIG(status) == SIGKILL);
	}
	CHECK(ftruncate(fd, 0) == 0 && ftruncate(fd, 64 * (long)PAGE) == 0);
	for (int i = 0; i < 64; i++) {
		CHECK(shared_area[i * PAGE] == 0);
		CHECK(pread(fd, page, PAGE, i * (long)PAGE) == (ssize_t)PAGE && page[0] == 0);
	}
	CHECK(munmap(shared_area, 64 * PAGE) == 0);
	close(fd);
}

const struct check threads_checks[] = {
	{"threads_and_fork", threads_and_fork, false},
	{"blocks_are_counted", blocks_are_counted, false},
	{"truncation_race", truncation_race, false},
	{0},
};
