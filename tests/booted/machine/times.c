/*
 * times.c - the time a process used, in user mode and in the kernel, never becomes less, and its sum is
 * that of the process's clock. Computes and calls by turns, so that ticks fall into both; with an
 * argument another thread computes and sleeps by turns meanwhile, on another CPU.
 */
#include "../must.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define LOOKS 200000

static long long nanoseconds(const struct timeval *time)
{
	return time->tv_sec * 1000000000LL + time->tv_usec * 1000LL;
}

static long long clock_ns(void)
{
	struct timespec time;

	must(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), "clock_gettime");
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void *work_and_sleep(void *unused)
{
	const struct timespec short_time = {.tv_nsec = 20000};

	for (;;) {
		for (volatile int work = 0; work < 20000; work++)
			;
		nanosleep(&short_time, NULL);
	}
	return unused;
}

int main(int argc, char **argv)
{
	long long user = 0, system = 0;
	pthread_t thread;

	(void)argv;
	if (argc > 1 && pthread_create(&thread, NULL, work_and_sleep, NULL))
		return 1;

	for (int i = 0; i < LOOKS; i++) {
		struct rusage usage;
		long long before = clock_ns(), after, told_user, told_system;

		must(getrusage(RUSAGE_SELF, &usage), "getrusage");
		after = clock_ns();
		told_user = nanoseconds(&usage.ru_utime);
		told_system = nanoseconds(&usage.ru_stime);
		if (told_user < user || told_system < system) {
			printf("look %d: user %lld after %lld, system %lld after %lld\n", i, told_user, user,
			       told_system, system);
			return 1;
		}
		/* each of the two is cut off to microseconds */
		if (told_user + told_system < before - 2000 || told_user + told_system > after) {
			printf("look %d: %lld and %lld are not %lld to %lld\n", i, told_user, told_system,
			       before, after);
			return 1;
		}
		user = told_user;
		system = told_system;
		for (volatile int work = 0; work < (i / 1000 % 2 ? 2000 : 0); work++)
			;
	}
	printf("%lld ms in user mode, %lld ms in the kernel\n", user / 1000000, system / 1000000);
	return user < 20000000 || system < 20000000;
}
