/*
 * forks.c - a process with many page tables forks where all memory is taken by what was read of files,
 * which can go at any time.
 */
#define _GNU_SOURCE
#include "../must.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define TABLES 3000
#define COVERED (2UL << 20) /* by a page table */
#define FILE_SIZE (160L << 20)
#define ROUNDS 4

static char bytes[1 << 16];

static void fill_memory(int file)
{
	for (long at = 0; at < FILE_SIZE; at += sizeof(bytes))
		must(pread(file, bytes, sizeof(bytes), at), "pread");
}

int main(void)
{
	char *area = mmap(NULL, TABLES * COVERED, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int file = open("/root/holes", O_RDWR | O_CREAT, 0600), status;

	must(area == MAP_FAILED ? -1 : 0, "mmap");
	must(file, "open");
	must(ftruncate(file, FILE_SIZE), "ftruncate");
	for (unsigned long i = 0; i < TABLES; i++)
		area[i * COVERED] = (char)(i % 100);
	for (int round = 0; round < ROUNDS; round++) {
		fill_memory(file);
		pid_t child = fork();

		must(child, "fork");
		if (!child) {
			for (unsigned long i = 0; i < TABLES; i++)
				if (area[i * COVERED] != (char)(i % 100))
					_exit(2);
			_exit(0);
		}
		must(waitpid(child, &status, 0), "waitpid");
		if (status)
			return 1;
	}
	puts("forked");
	return 0;
}
