/*
 * flood.c - an ordinary user's program: makes files by the names that flood_names() gives, looks
 * each up again, and tells what a lookup took.
 *
 *     flood DIRECTORY COUNT [plain]      plain: file0, file1 ... instead, to compare
 *
 * Built at the top of the source tree:
 *     musl-gcc -static -O2 -DHOSTED -I. -o ~/lab3/flood ~/lab3/flood.c
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/types.h"
#include "hash/shared.h"

#include "flood.h"

#define MOST 4096
#define ROUNDS 4

static char names[MOST][256];

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

static void make_file(const char *name)
{
	int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (file < 0) {
		perror(name);
		exit(1);
	}
	close(file);
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	struct stat status;
	u64 start;

	if (count < 1 || count > MOST || chdir(argv[1])) {
		fprintf(stderr, "usage: flood DIRECTORY COUNT [plain], COUNT from 1 to %d\n", MOST);
		return 2;
	}
	if (argc > 3)
		for (unsigned i = 0; i < count; i++)
			snprintf(names[i], sizeof(names[i]), "file%u", i);
	else
		flood_names(names, count);
	for (unsigned i = 0; i < count; i++)
		make_file(names[i]);
	start = now_ns();
	for (unsigned i = 0; i < ROUNDS * count; i++)
		if (stat(names[i % count], &status))
			perror(names[i % count]);
	printf("%u files; ns a lookup: %llu\n", count, (now_ns() - start) / (ROUNDS * count));
	return 0;
}
