/*
 * attributes.c - what extended attributes cost by their number: a file gets COUNT of them, then
 * each is replaced, read, listed with the others, and removed. A plain Linux program: the same
 * figures there.
 *
 * It reads the time-stamp counter, of which `--icount` makes one tick an instruction. Usage:
 * attributes COUNT. Prints "CALL ticks-a-call" for each call.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include <unistd.h>

#define FILE_NAME "attributes-of"

static int fd;
static char name[32], list[4096];

static uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static long create(void)
{
	return fsetxattr(fd, name, "1", 1, XATTR_CREATE);
}

static long replace(void)
{
	return fsetxattr(fd, name, "2", 1, XATTR_REPLACE);
}

static long get(void)
{
	char value;

	return fgetxattr(fd, name, &value, 1) == 1 && value == '2' ? 0 : -1;
}

static long list_all(void)
{
	return flistxattr(fd, list, sizeof(list));
}

static long take_away(void)
{
	return fremovexattr(fd, name);
}

static void measure(const char *what, long (*call)(void), unsigned count)
{
	uint64_t spent = 0;

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "user.%u", i);
		uint64_t start = ticks();
		long result = call();
		spent += ticks() - start;
		if (result < 0) {
			perror(what);
			exit(1);
		}
	}
	printf("%s %llu\n", what, (unsigned long long)(spent / count));
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 100;

	fd = open(FILE_NAME, O_CREAT | O_RDWR, 0600);
	if (fd < 0) {
		perror(FILE_NAME);
		return 1;
	}
	measure("create", create, count);
	measure("replace", replace, count);
	measure("get", get, count);
	measure("list", list_all, count);
	measure("remove", take_away, count);
	return unlink(FILE_NAME);
}
