/*
 * memorywalk.c - patterns of accesses whose misses are known by arithmetic, for the caches of
 * tests/lab/run/test_cachesim.py: lines of 64 bytes, a first level of 16 sets and 4 ways, a second of
 * 64 sets and 4 ways. A way of either is no larger than a page, so that virtual addresses tell the
 * set.
 *
 *	memorywalk PATTERN [NUMBER]
 *
 * The caches hold nothing of the array when the pattern begins.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../user/region.h"

#define LINE 64
#define BYTES (64 << 10)

static char array[BYTES] __attribute__((aligned(4096)));
static char others[BYTES] __attribute__((aligned(4096)));

/* Count what @code does, and nothing else: the pattern was chosen before. */
#define MEASURE(code)                                                                              \
	do {                                                                                       \
		region_start();                                                                    \
		code;                                                                              \
		region_stop();                                                                     \
	} while (0)

#define READ(address) ((void)*(volatile uint64_t *)(address))

static inline __attribute__((always_inline)) void read_all(const char *from, unsigned bytes,
							   unsigned step, unsigned rounds)
{
	while (rounds--)
		for (const char *at = from; at < from + bytes; at += step)
			READ(at);
}

static inline __attribute__((always_inline)) void write_all(char *from, unsigned bytes,
							    unsigned step)
{
	for (char *at = from; at < from + bytes; at += step)
		*(volatile uint64_t *)at = 1;
}

/* Each line of the first @bytes holds the address of another, in an order that visits all. */
static void make_chain(unsigned bytes)
{
	unsigned lines = bytes / LINE, here = 0;

	for (unsigned i = 0; i < lines; i++) {
		unsigned next = (here + lines / 2 - 37) % lines; /* odd: all of them are visited */

		*(char **)(array + here * LINE) = array + next * LINE;
		here = next;
	}
}

static inline __attribute__((always_inline)) void follow_chain(unsigned steps)
{
	char *at = array;

	while (steps--)
		at = *(char *volatile *)at;
}

/* a b c d a e a, all in one set of the first level: only with the least recently used one replaced
 * does the last a hit. */
static inline __attribute__((always_inline)) void reuse(void)
{
	READ(array);
	READ(array + 1024);
	READ(array + 2048);
	READ(array + 3072);
	READ(array);
	READ(array + 4096);
	READ(array);
}

/* Instructions without a jump: 2 KB and 8 KB of them. */
__asm__(".text\n"
	".balign 4096\n"
	"code_small:\n"
	".fill 2047, 1, 0x90\n"
	"ret\n"
	".balign 4096\n"
	"code_large:\n"
	".fill 8191, 1, 0x90\n"
	"ret\n");
extern void code_small(void), code_large(void);

static inline __attribute__((always_inline)) void call(void (*code)(void), unsigned rounds)
{
	while (rounds--)
		code();
}

/* Their pages are there, and the other one is in the caches. */
static void run_code(const char *pattern)
{
	bool large = !strcmp(pattern, "code-large");

	call(large ? code_large : code_small, 1);
	call(large ? code_small : code_large, 1);
	if (large)
		call(code_small, 1);
	read_all(others, sizeof(others), LINE, 2);
	if (large)
		MEASURE(call(code_large, 10));
	else if (!strcmp(pattern, "code"))
		MEASURE(call(code_small, 10));
	else
		MEASURE({
			read_all((const char *)code_small, 2 << 10, LINE, 1);
			call(code_small, 1);
		});
}

static inline __attribute__((always_inline)) void stat_files(unsigned number)
{
	struct stat status;

	while (number--)
		if (stat("/etc/passwd", &status))
			exit(1);
}

static void read_pages(unsigned number)
{
	int file = open("/proc/self/exe", O_RDONLY);

	region_start();
	while (number--)
		if (pread(file, others, 4096, 0) != 4096)
			exit(1);
	region_stop();
}

/* Read one page, then another at the same address: lines of another page of memory, that miss
 * again.
 */
static void read_two_pages(void)
{
	int file = open("/tmp/two", O_RDWR | O_CREAT, 0600);
	char *other = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (ftruncate(file, 8192) || other == MAP_FAILED || page == MAP_FAILED)
		exit(1);
	write_all(other, 8192, LINE);
	read_all(others, sizeof(others), LINE, 2);
	read_all(page, 4096, LINE, 2);
	mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 4096);
	READ(page); /* and so it is there */
	MEASURE(read_all(page, 4096, LINE, 1));
}

int main(int argc, char **argv)
{
	const char *pattern = argc > 1 ? argv[1] : "";
	unsigned number = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

	memset(array, 1, sizeof(array));
	make_chain(32 << 10);
	if (!strcmp(pattern, "pages")) {
		read_pages(number);
		return 0;
	}
	memset(others, 1, sizeof(others));
	if (!strcmp(pattern, "two-pages")) {
		read_two_pages();
		return 0;
	}
	if (!strncmp(pattern, "code", 4)) {
		run_code(pattern);
		return 0;
	}
	if (!strcmp(pattern, "stat"))
		stat_files(1);
	read_all(others, sizeof(others), LINE, 2);
	if (!strcmp(pattern, "read"))
		MEASURE(read_all(array, 32 << 10, 8, 1));
	else if (!strcmp(pattern, "write"))
		MEASURE(write_all(array, 32 << 10, 8));
	else if (!strcmp(pattern, "fits"))
		MEASURE(read_all(array, 2 << 10, LINE, 10));
	else if (!strcmp(pattern, "fits-second"))
		MEASURE(read_all(array, 8 << 10, LINE, 10));
	else if (!strcmp(pattern, "conflict"))
		MEASURE(read_all(array, number << 10, 1 << 10, 100));
	else if (!strcmp(pattern, "tlb"))
		MEASURE(read_all(array, number << 12, 4096, 10));
	else if (!strcmp(pattern, "chain"))
		MEASURE(follow_chain(3 * 512));
	else if (!strcmp(pattern, "across"))
		MEASURE(READ(array + LINE - 4));
	else if (!strcmp(pattern, "reuse"))
		MEASURE(reuse());
	else if (!strcmp(pattern, "stat"))
		MEASURE(stat_files(number));
	else
		return 2;
	return 0;
}
