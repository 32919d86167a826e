/* What all loads use: ends, memory, random numbers, checksums, results. */
#define _GNU_SOURCE
#include "workload.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MORE_ROOM                                                                                  \
	"\n(a smaller load, see --help; or more room: ./cw run --image files or --ext2-free MB)"

void fail_errno(const char *format, ...)
{
	int error = errno;
	va_list arguments;

	fprintf(stderr, "workload: ");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, ": %s%s\n", strerror(error), error == ENOSPC ? MORE_ROOM : "");
	exit(STATUS_FAILED);
}

static void complain(const char *format, va_list arguments)
{
	fprintf(stderr, "workload: ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
}

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
	exit(STATUS_FAILED);
}

void usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
	exit(STATUS_USAGE);
}

void *allocate(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory)
		fail("no memory for %zu bytes", size);
	return memory;
}

char *join(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		fail("no memory");
	va_end(arguments);
	return text;
}

uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void make_folder(const char *path)
{
	if (mkdir(path, 0755))
		fail_errno("mkdir %s", path);
}

void drop_caches(int what)
{
	static const char path[] = "/proc/sys/vm/drop_caches";
	int fd = open(path, O_WRONLY);

	sync();
	if (fd < 0 || dprintf(fd, "%d\n", what) < 0)
		fail_errno("%s (caches are dropped by root only)", path);
	close(fd);
}

pid_t fork_child(void)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		fail_errno("fork");
	return child;
}

/* ---- random numbers ---- */

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void random_start(struct random *random, uint64_t seed, uint64_t stream)
{
	uint64_t state = seed, mixed;

	mixed = splitmix64(&state) ^ stream;
	for (int i = 0; i < 4; i++)
		random->state[i] = splitmix64(&mixed);
}

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

uint64_t random_next(struct random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotate(s[1] * 5, 7) * 9, shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t random_below(struct random *random, uint64_t limit)
{
	uint64_t fair = UINT64_MAX - UINT64_MAX % limit, number;

	do
		number = random_next(random);
	while (number >= fair);
	return number % limit;
}

/* Von Neumann's comparison method: no logarithm, whose last bit may differ between libraries. */
uint64_t random_exponential(struct random *random, uint64_t mean)
{
	for (uint64_t whole = 0; whole < 8; whole++) {
		uint64_t first = random_next(random) >> 11, before = first, next;
		int length = 1;

		while ((next = random_next(random) >> 11) < before) {
			before = next;
			length++;
		}
		if (length % 2)
			return (uint64_t)((double)mean *
					  ((double)whole + (double)first / 9007199254740992.0));
	}
	return 8 * mean;
}

void random_order(struct random *random, unsigned *order, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		order[i] = i;
	for (unsigned i = count; i > 1; i--) {
		unsigned other = (unsigned)random_below(random, i), kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
}

/* ---- checksums ---- */

static void digest_byte(uint64_t *digest, unsigned char byte)
{
	*digest = (*digest ^ byte) * UINT64_C(0x100000001b3);
}

void digest_add(uint64_t *digest, const char *text)
{
	while (*text)
		digest_byte(digest, (unsigned char)*text++);
	digest_byte(digest, 0);
}

void digest_add_number(uint64_t *digest, uint64_t number)
{
	for (int i = 0; i < 8; i++)
		digest_byte(digest, (unsigned char)(number >> 8 * i));
}

double per_second(uint64_t count, uint64_t elapsed_ns)
{
	return elapsed_ns ? (double)count * 1e9 / (double)elapsed_ns : 0;
}
