/*
 * swapping.c - programs whose memory does not fit: patterned memory of so many MB is written, read
 * again in several orders, shared by forks, given back, all with swap on a disk or file. A plain
 * Linux program: it prints the same there. Each part prints `ok NAME`, or what was wrong.
 *
 * Usage: swapping DEVICE MB PART...; DEVICE is made swap and used, MB what does not fit.
 */
#include "common.h"

/* ---- parts ----------------------------------------------------------------------------------- */

static void part_pattern(void)
{
	unsigned long *memory = take(pages, MAP_PRIVATE), at = 1;

	fill(memory, pages, 1);
	check(memory, pages, 1);
	for (unsigned long n = 0; n < pages; n++) { /* at random, changing some */
		at = (at * 6364136223846793005UL + 1442695040888963407UL);
		unsigned long i = (at >> 33) % pages;

		check_page(memory, i, 1);
		if (n % 3 == 0)
			memory[i * 512 + 7] = i;
	}
	check(memory, pages, 1);
	for (unsigned long i = 0; i < pages; i++)
		if (memory[i * 512 + 7] && memory[i * 512 + 7] != i)
			fail("a change of page %lu", i);
	munmap(memory, pages * PAGE);
}

/* Each of a tree of processes sees its own changes, and its parents' from before. */
static void tree(unsigned long *memory, unsigned long count, unsigned depth, unsigned long seed)
{
	for (unsigned child = 0; depth && child < 2; child++)
		if (!fork()) {
			unsigned long mine = seed * 2 + child;

			check(memory, count, seed);
			fill(memory, count / 4, mine);
			for (unsigned long i = count / 4; i < count; i++)
				check_page(memory, i, seed);
			fill(memory, count, mine);
			tree(memory, count, depth - 1, mine);
			_exit(0);
		}
	if (depth)
		wait_all(2);
	check(memory, count, seed);
}

static void part_forks(void)
{
	unsigned long *memory = take(pages / 6, MAP_PRIVATE);

	fill(memory, pages / 6, 3);
	tree(memory, pages / 6, 2, 3);
	munmap(memory, pages / 6 * PAGE);
}

/* Several processes at once, each with its share. */
static void part_together(void)
{
	for (unsigned child = 0; child < 4; child++)
		if (!fork()) {
			unsigned long *memory = take(pages / 4, MAP_PRIVATE);

			for (unsigned round = 0; round < 3; round++) {
				fill(memory, pages / 4, child * 10 + round);
				check(memory, pages / 4, child * 10 + round);
			}
			_exit(0);
		}
	wait_all(4);
}

/* What is given up is gone, and its place in swap is free again. */
static void part_dontneed(void)
{
	unsigned long *memory = take(pages, MAP_PRIVATE);
	long free_before = meminfo("SwapFree");

	fill(memory, pages, 5);
	if (meminfo("SwapFree") >= free_before)
		fail("nothing is swapped out");
	madvise(memory, pages * PAGE, MADV_DONTNEED);
	wait_free(free_before, "madvise");
	for (unsigned long i = 0; i < pages; i += 17)
		if (memory[i * 512])
			fail("page %lu is not zero", i);
	munmap(memory, pages * PAGE);
	if (!fork()) { /* exit and exec give it up, too */
		fill(take(pages, MAP_PRIVATE), pages, 6);
		execl("/proc/self/exe", "swapping", (char *)NULL);
		_exit(1);
	}
	wait_all(1);
	if (!fork()) {
		fill(take(pages, MAP_PRIVATE), pages, 7);
		_exit(0);
	}
	wait_all(1);
	wait_free(free_before, "exit");
}

/* mprotect, mremap-like moves and private copies of file pages. */
static void part_rights(void)
{
	unsigned long *memory = take(pages, MAP_PRIVATE);

	fill(memory, pages, 8);
	mprotect(memory, pages * PAGE, PROT_NONE);
	unsigned long *rest = take(pages / 2, MAP_PRIVATE);

	fill(rest, pages / 2, 9);
	munmap(rest, pages / 2 * PAGE);
	mprotect(memory, pages * PAGE, PROT_READ);
	check(memory, pages, 8);
	mprotect(memory, pages * PAGE, PROT_READ | PROT_WRITE);
	fill(memory, pages, 10);
	check(memory, pages, 10);
	munmap(memory, pages * PAGE);
}

static void part_shared(void)
{
	unsigned long *memory = take(pages, MAP_SHARED);

	if (!fork()) {
		fill(memory, pages, 11);
		_exit(0);
	}
	wait_all(1);
	check(memory, pages, 11);
	munmap(memory, pages * PAGE);
}

/* What is locked stays in memory, whatever else is swapped out. */
static void part_locked(void)
{
	unsigned long *memory = take(256, MAP_PRIVATE), *rest;
	unsigned char resident[256];

	fill(memory, 256, 12);
	if (mlock(memory, 256 * PAGE))
		fail("mlock");
	rest = take(pages, MAP_PRIVATE);
	fill(rest, pages, 13);
	check(rest, pages, 13);
	if (mincore(memory, 256 * PAGE, resident))
		fail("mincore");
	for (unsigned i = 0; i < 256; i++)
		if (!(resident[i] & 1))
			fail("locked page %u is not in memory", i);
	munlock(memory, 256 * PAGE);
	check(memory, 256, 12);
	munmap(rest, pages * PAGE);
	munmap(memory, 256 * PAGE);
}

/* swapoff while processes use it, and on again. */
static void part_off(void)
{
	unsigned long *memory = take(pages / 4, MAP_PRIVATE), *rest = take(pages, MAP_PRIVATE);
	pid_t child;

	fill(memory, pages / 4, 14);
	fill(rest, pages, 15);
	munmap(rest, pages * PAGE);
	child = fork();
	if (!child) {
		for (unsigned round = 0; round < 20; round++) {
			check(memory, pages / 4, 14);
			memory[round * 512 + 3] = round;
		}
		_exit(0);
	}
	if (swapoff(device))
		fail("swapoff");
	if (meminfo("SwapTotal") != 0)
		fail("SwapTotal is %ld", meminfo("SwapTotal"));
	wait_all(1);
	check(memory, pages / 4, 14);
	munmap(memory, pages / 4 * PAGE);
	if (swapon(device, 0))
		fail("swapon again");
}

/* Memory is out only when swap is full, too: then whoever has most of it is ended. */
static void part_full(void)
{
	volatile unsigned long *filled = (void *)take(1, MAP_SHARED);
	unsigned long swap = (unsigned long)meminfo("SwapFree") / 4, count = 3 * pages;
	int status;

	if (!fork()) {
		unsigned long *memory = take(count, MAP_PRIVATE);

		for (; *filled < count; ++*filled)
			memory[*filled * 512] = *filled;
		_exit(0);
	}
	if (wait(&status) < 0 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		fail("the child that took all memory ended with status %x", status);
	if (*filled < swap)
		fail("it was ended after %lu pages, with %lu pages of swap", *filled, swap);
	munmap((void *)filled, PAGE);
}

const struct part parts[] = {
	{"pattern", part_pattern}, {"forks", part_forks},   {"together", part_together},
	{"dontneed", part_dontneed}, {"rights", part_rights}, {"shared", part_shared},
	{"locked", part_locked},   {"off", part_off},     {"full", part_full}, {NULL, NULL},
};
