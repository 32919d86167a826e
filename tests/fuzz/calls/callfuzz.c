/*
 * callfuzz.c - every system call there is, with plausible, border and wild arguments, by several
 * processes of several threads, as an ordinary user under resource limits.
 *
 *	callfuzz SEED CALLS [PROCESSES [THREADS]]
 *
 * lab/check/fuzz/calls.py makes calls.h from core/syscalls.def: a letter for each argument says
 * what it means. Descriptors, names, addresses and structures come from pools that live: what one
 * call makes another one finds. What a call returns is not judged, only counted: the kernel's own
 * checks and what is left afterwards are. The same seed draws the same calls; under --icount, where
 * only instructions tell the time, they also meet in the same order.
 *
 * A process ends by whatever it does to itself and is made anew, until all calls are made. One that
 * makes none for a while sleeps for good, or is stopped: it is killed. In the end nobody of this
 * user is alive, and what they made is removed.
 */
#include "callfuzz.h"

struct counts *counts;
uint64_t goal, seed;

/* How often each errno came back, and for how many calls in all. */
static uint64_t print_results(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 140; i++) {
		sum += counts->results[i];
		if (counts->results[i])
			printf("%s%d:%lu", i ? " " : "results ", i,
			       (unsigned long)counts->results[i]);
	}
	return sum;
}

int main(int argc, char **argv)
{
	int processes = argc > 3 ? atoi(argv[3]) : 8, threads = argc > 4 ? atoi(argv[4]) : 2;
	uint64_t total = argc > 2 ? strtoul(argv[2], NULL, 0) : 30000;
	bool gone, enough;

	if (argc > 1 && !strcmp(argv[1], "x")) /* by a call of execve */
		return 0;
	seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	if (processes < 1 || processes > MAX_PROCESSES)
		return 2;
	goal = total / (uint64_t)processes;
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	printf("seed %lu, %lu calls of %zu kinds, %d processes, %d threads each\n",
	       (unsigned long)seed, (unsigned long)total, kinds_of_calls, processes, threads);
	fflush(stdout);
	mkdir(FOLDER, 0777);
	chmod(FOLDER, 0777);
	keep(processes, threads);
	gone = end_user();
	remove_what_is_left();
	enough = print_results() >= total / 2;
	printf("\ncallfuzz: %s\n", gone && enough ? "ok" : "WRONG");
	return !gone;
}
