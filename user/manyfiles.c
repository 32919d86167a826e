/*
 * manyfiles - a tree of many empty files: created, listed, statted and removed, and what memory
 * they took.
 *
 * A plain static Linux program. Usage: manyfiles DIRECTORY FILES. Directories of 1000 files each
 * are made below DIRECTORY. Every step counts what it sees; a wrong count ends the program with
 * status 1. A line of JSON for each step: {"step": "create", "files": 1000000, "ticks a file":
 * 1100}; the ticks are rdtsc's, which under `./cw run --icount` are instructions. The step
 * "memory" prints the bytes that MemFree of /proc/meminfo went down by for each file, all
 * included.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PER_DIRECTORY = 1000 };

static long files;
static char path[64];

static uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static void fail(const char *what)
{
	fprintf(stderr, "manyfiles: %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}

static long free_kilobytes(void)
{
	char text[4096], *at;
	int fd = open("/proc/meminfo", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n < 0)
		fail("meminfo");
	text[n] = 0;
	close(fd);
	at = strstr(text, "MemFree:");
	return at ? atol(at + 8) : 0;
}

static const char *name_of(long file)
{
	snprintf(path, sizeof(path), "d%ld/file%ld", file / PER_DIRECTORY, file);
	return path;
}

static const char *directory_of(long file)
{
	snprintf(path, sizeof(path), "d%ld", file / PER_DIRECTORY);
	return path;
}

static void create(void)
{
	for (long i = 0; i < files; i++) {
		int fd;

		if (i % PER_DIRECTORY == 0 && mkdir(directory_of(i), 0755))
			fail("mkdir");
		fd = open(name_of(i), O_CREAT | O_EXCL | O_WRONLY, 0644);
		if (fd < 0)
			fail("create");
		close(fd);
	}
}

static void list(void)
{
	long found = 0;

	for (long i = 0; i < files; i += PER_DIRECTORY) {
		DIR *directory = opendir(directory_of(i));

		if (!directory)
			fail("opendir");
		while (readdir(directory))
			found++;
		found -= 2; /* dots */
		closedir(directory);
	}
	if (found != files) {
		fprintf(stderr, "manyfiles: %ld of %ld files listed\n", found, files);
		exit(1);
	}
}

static void stat_all(void)
{
	struct stat stat;

	for (long i = 0; i < files; i++)
		if (lstat(name_of(i), &stat) || stat.st_nlink != 1)
			fail("stat");
}

static void remove_all(void)
{
	for (long i = 0; i < files; i++) {
		if (unlink(name_of(i)))
			fail("unlink");
		if ((i + 1) % PER_DIRECTORY == 0 || i + 1 == files)
			if (rmdir(directory_of(i)))
				fail("rmdir");
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} steps[] = {{"create", create}, {"list", list}, {"stat", stat_all}, {"remove", remove_all}};
	long before;

	if (argc != 3 || chdir(argv[1]) || (files = atol(argv[2])) < 1) {
		fprintf(stderr, "usage: manyfiles DIRECTORY FILES\n");
		return 2;
	}
	before = free_kilobytes();
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t start = ticks();

		steps[i].run();
		printf("{\"step\": \"%s\", \"files\": %ld, \"ticks a file\": %llu}\n", steps[i].name,
		       files, (unsigned long long)(ticks() - start) / (unsigned long long)files);
		fflush(stdout);
		if (steps[i].run == create) {
			printf("{\"step\": \"memory\", \"files\": %ld, \"bytes a file\": %ld}\n", files,
			       (before - free_kilobytes()) * 1024 / files);
			fflush(stdout);
		}
	}
	return 0;
}
