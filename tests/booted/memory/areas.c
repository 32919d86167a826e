/*
 * areas.c - what many areas cost: one-page mappings of alternating rights, so that no two of them
 * join, made and unmapped in several orders. A plain Linux program: the same figures there.
 *
 * It reads the time-stamp counter, of which `--icount` makes one tick an instruction. Usage: areas
 * COUNT. Prints "PATTERN COUNT ticks-a-mmap ticks-a-munmap" for each pattern.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096UL

static uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static char **pages;
static unsigned long count;

static char *map(void *where, unsigned long i)
{
	int prot = i & 1 ? PROT_READ : PROT_READ | PROT_WRITE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0);
	char *page = mmap(where, PAGE, prot, flags, -1, 0);

	if (page == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return page;
}

/* A random order of the pages. */
static void shuffle(void)
{
	uint64_t random = 1;

	for (unsigned long i = count - 1; i > 0; i--) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		unsigned long other = (random >> 33) % (i + 1);
		char *page = pages[i];

		pages[i] = pages[other];
		pages[other] = page;
	}
}

static uint64_t map_all(void)
{
	uint64_t start = ticks();

	for (unsigned long i = 0; i < count; i++)
		pages[i] = map(pages[i], i);
	return (ticks() - start) / count;
}

static uint64_t unmap_all(void)
{
	uint64_t start = ticks();

	for (unsigned long i = 0; i < count; i++)
		if (munmap(pages[i], PAGE)) {
			perror("munmap");
			exit(1);
		}
	return (ticks() - start) / count;
}

/* Where the system puts them: side by side. */
static void anywhere(void)
{
	for (unsigned long i = 0; i < count; i++)
		pages[i] = NULL;
}

/* At given places, with a hole of @holes pages beside each. */
static void places(unsigned long holes)
{
	char *start = (char *)0x200000000000;

	for (unsigned long i = 0; i < count; i++)
		pages[i] = start + i * (holes + 1) * PAGE;
}

static void report(const char *pattern, uint64_t mapping, uint64_t unmapping)
{
	printf("%s %lu %llu %llu\n", pattern, count, (unsigned long long)mapping,
	       (unsigned long long)unmapping);
}

int main(int argc, char **argv)
{
	uint64_t mapping;

	count = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000;
	pages = calloc(count, sizeof(*pages));
	if (!pages)
		return 1;
	anywhere();
	mapping = map_all();
	report("side-by-side", mapping, unmap_all());
	anywhere();
	mapping = map_all();
	shuffle();
	report("unmapped-at-random", mapping, unmap_all());
	places(1);
	mapping = map_all();
	report("with-holes", mapping, unmap_all());
	places(1);
	shuffle();
	mapping = map_all();
	shuffle();
	report("all-at-random", mapping, unmap_all());

	/* Every second one leaves a hole, which larger ones do not fit in and later ones find. */
	anywhere();
	map_all();
	uint64_t start = ticks();
	for (unsigned long i = 0; i < count; i += 2)
		munmap(pages[i], PAGE);
	uint64_t unmapping = (ticks() - start) / (count / 2);
	start = ticks();
	for (unsigned long i = 0; i < count; i += 2)
		pages[i] = map(NULL, i);
	report("into-holes", (ticks() - start) / (count / 2), unmapping);
	unmap_all();
	return 0;
}
