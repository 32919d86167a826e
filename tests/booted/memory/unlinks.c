/*
 * unlinks.c - memory that waits for grace periods is bounded: files are made and removed by
 * processes on all CPUs, millions of times, while one looks for their names all the time, so that
 * there is always a reader somewhere.
 *
 * unlinks FOLDER CPUS ROUNDS: a process for each CPU, each so many rounds in a folder of its own.
 * Prints in KB how much less memory was free than at the start, at most, and at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../must.h"

#define NAMES 64    /* of a folder, of which each is there half of the time */
#define SAMPLE 1000 /* rounds, after which a process looks how much is free */
#define MOST_CPUS 16

static long *least; /* KB that were free, of each process; shared */

static long free_kb(void)
{
	struct sysinfo info;

	must(sysinfo(&info), "sysinfo");
	return (long)(info.freeram * info.mem_unit >> 10);
}

static const char *name_of(int cpu, long round)
{
	static char name[32];

	snprintf(name, sizeof(name), "%d/%ld", cpu, round % NAMES);
	return name;
}

static void make_and_remove(int cpu, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		const char *name = name_of(cpu, i);

		must(mknod(name, S_IFREG | 0644, 0), "mknod");
		must(unlink(name), "unlink");
		if (i % SAMPLE)
			continue;
		long now = free_kb();

		if (now < least[cpu])
			least[cpu] = now;
	}
	_exit(0);
}

/* Until it is killed. */
static void look(int cpus)
{
	struct stat status;

	for (long i = 0;; i++)
		if (stat(name_of((int)(i % cpus), i), &status) && errno != ENOENT)
			must(-1, "stat");
}

int main(int argc, char **argv)
{
	int cpus, failed = 0, status;
	long rounds;
	pid_t reader, children[MOST_CPUS];

	must(argc == 4 ? chdir(argv[1]) : -1, "unlinks FOLDER CPUS ROUNDS");
	cpus = atoi(argv[2]);
	rounds = atol(argv[3]);
	must(cpus > 0 && cpus <= MOST_CPUS ? 0 : -1, "CPUS");
	least = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(least == MAP_FAILED ? -1 : 0, "mmap");
	for (int i = 0; i < cpus; i++) {
		char folder[16];

		snprintf(folder, sizeof(folder), "%d", i);
		must(mkdir(folder, 0755), folder);
	}
	must(reader = fork(), "fork");
	if (!reader)
		look(cpus);
	long start = free_kb(), lowest = start;
	for (int i = 0; i < cpus; i++) {
		least[i] = start;
		must(children[i] = fork(), "fork");
		if (!children[i])
			make_and_remove(i, rounds);
	}
	for (int i = 0; i < cpus; i++) {
		must(waitpid(children[i], &status, 0), "waitpid");
		failed += status != 0;
		if (least[i] < lowest)
			lowest = least[i];
	}
	must(kill(reader, SIGKILL), "kill");
	must(waitpid(reader, &status, 0), "waitpid");
	printf("%d failed, %ld KB at most, %ld KB at the end\n", failed, start - lowest,
	       start - free_kb());
	return failed || !WIFSIGNALED(status);
}
