/*
 * tables.c - a process fills memory with page tables, and has next to no pages: one page in every
 * 2 MB, given back at once. Another has some memory and does nothing. Who is ended?
 */
#define _GNU_SOURCE
#include "../../must.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MB (1L << 20)
#define KEPT (4 * MB)
#define STEPS (1L << 15) /* tables: 128 MB, twice what there is */

static void keep_memory(int ready)
{
	volatile char *kept = malloc(KEPT);

	for (long at = 0; at < KEPT; at += 4096)
		kept[at] = 1;
	must(write(ready, "", 1), "write");
	for (;;)
		pause();
}

static void fill_with_tables(void)
{
	char *area = mmap(NULL, STEPS * 2 * MB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(area == MAP_FAILED ? -1 : 0, "mmap");
	for (long i = 0; i < STEPS; i++) {
		(void)*(volatile char *)(area + i * 2 * MB);
		must(madvise(area + i * 2 * MB, 4096, MADV_DONTNEED), "madvise");
	}
	_exit(0);
}

int main(void)
{
	int ready[2], status;
	pid_t keeper, filler;
	char byte;

	must(pipe(ready), "pipe");
	must(keeper = fork(), "fork");
	if (!keeper)
		keep_memory(ready[1]);
	must(read(ready[0], &byte, 1), "read");
	must(filler = fork(), "fork");
	if (!filler)
		fill_with_tables();
	must(waitpid(filler, &status, 0), "waitpid");
	printf("who took tables: signal %d\n", WTERMSIG(status));
	printf("who kept memory: %s\n", waitpid(keeper, &status, WNOHANG) ? "ended" : "lives");
	kill(keeper, SIGKILL);
	return 0;
}
