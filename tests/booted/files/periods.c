/*
 * periods.c - how far an interval timer has strayed, in microseconds, after many of its periods: of
 * the process's sleep, and of its work.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_US 1000
#define PERIODS 2000

static volatile sig_atomic_t expired;

static void on_alarm(int signo)
{
	(void)signo;
	expired++;
}

/* When it expires next. */
static long next_us(void)
{
	struct itimerval timer;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getitimer(ITIMER_REAL, &timer);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000 + timer.it_value.tv_usec;
}

static void measure(const char *what, int works)
{
	const struct itimerval timer = {{0, PERIOD_US}, {0, PERIOD_US}}, none = {{0, 0}, {0, 0}};
	long first;

	expired = 0;
	setitimer(ITIMER_REAL, &timer, NULL);
	first = next_us();
	while (expired < PERIODS)
		if (!works)
			pause();
	printf("%s %ld\n", what, next_us() - first - (long)PERIODS * PERIOD_US);
	setitimer(ITIMER_REAL, &none, NULL);
}

int main(void)
{
	signal(SIGALRM, on_alarm);
	measure("sleep", 0);
	measure("work", 1);
	return 0;
}
