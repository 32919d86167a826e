/*
 * share.c - what of the CPUs each of more busy processes than there are CPUs gets. One a CPU begins, so that all are busy;
 * then one process makes the others, and sleeps. Prints the least and the greatest CPU time of any, in per cent of a fair share.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CPUS = 4, HOGS = 12, SECONDS = 3, WAIT, RUN, STOP };
static struct shared {
	volatile int state;
	double used[HOGS];
} *shared;

static double seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void begin(int hog)
{
	pid_t child = fork();

	if (child < 0)
		_exit(1);
	if (child)
		return;
	while (shared->state != RUN)
		;
	double before = seconds(CLOCK_PROCESS_CPUTIME_ID);

	while (shared->state == RUN)
		;
	shared->used[hog] = seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
	_exit(0);
}

int main(void)
{
	double least = 1e9, greatest = 0, began, fair;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	shared->state = WAIT;
	for (int i = 0; i < HOGS; i++) {
		begin(i);
		if (i < CPUS)
			usleep(100000);
	}
	shared->state = RUN;
	began = seconds(CLOCK_MONOTONIC);
	sleep(SECONDS);
	shared->state = STOP;
	fair = (seconds(CLOCK_MONOTONIC) - began) * CPUS / HOGS;
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < HOGS; i++) {
		least = shared->used[i] < least ? shared->used[i] : least;
		greatest = shared->used[i] > greatest ? shared->used[i] : greatest;
	}
	printf("%.0f %.0f\n", 100 * least / fair, 100 * greatest / fair);
	return 0;
}
