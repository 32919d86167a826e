/*
 * common.h - for programs of many parts whose memory does not fit: patterned memory, what
 * /proc/meminfo says of swap, and main(). Each part prints `ok NAME`, or what was wrong.
 *
 * Usage: PROGRAM DEVICE MB PART...; DEVICE is made swap and used, MB what does not fit.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define OTHERS                                                                                     \
	6144 /* kB that other processes, the rest of this one, and a root in memory may have in    \
		swap */

static const char *device;
static unsigned long pages;

static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("not ok: ");
	vprintf(format, arguments);
	printf(" (errno %d)\n", errno);
	va_end(arguments);
	fflush(stdout);
	_exit(1);
}

/* A header as mkswap writes it, of all that @path has. */
static void make_swap(const char *path)
{
	static char header[PAGE];
	int fd = open(path, O_RDWR);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (size < (off_t)(16 * PAGE))
		fail("%s", path);
	((unsigned *)header)[256] = 1;
	((unsigned *)header)[257] = (unsigned)(size / (off_t)PAGE - 1);
	memcpy(header + PAGE - 10, "SWAPSPACE2", 10);
	if (pwrite(fd, header, PAGE, 0) != (ssize_t)PAGE || fsync(fd))
		fail("header");
	close(fd);
}

/* kB of a row of /proc/meminfo. */
static long meminfo(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long value = -1;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			value = atol(line + strlen(name) + 1);
	fclose(file);
	return value;
}

static unsigned long *take(unsigned long count, int flags)
{
	void *memory = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE,
			    flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap of %lu pages", count);
	return memory;
}

static unsigned long word(unsigned long page, unsigned long seed)
{
	return (page * 2654435761UL + seed) ^ seed << 40;
}

static void fill(unsigned long *memory, unsigned long count, unsigned long seed)
{
	for (unsigned long i = 0; i < count; i++) {
		memory[i * 512] = word(i, seed);
		memory[i * 512 + 511] = ~word(i, seed);
	}
}

static void check_page(const unsigned long *memory, unsigned long i, unsigned long seed)
{
	if (memory[i * 512] != word(i, seed) || memory[i * 512 + 511] != ~word(i, seed))
		fail("page %lu: %lx, not %lx", i, memory[i * 512], word(i, seed));
}

static void check(const unsigned long *memory, unsigned long count, unsigned long seed)
{
	for (unsigned long i = 0; i < count; i++)
		check_page(memory, i, seed);
}

/* Wait for @count children that all have to end well. */
static void wait_all(unsigned count)
{
	for (int status; count; count--)
		if (wait(&status) < 0 || status)
			fail("a child: status %x", status);
}

/* So much of swap is free (again), at the latest when what was under way has ended. */
static void wait_free(long wanted, const char *after)
{
	for (int n = 0; meminfo("SwapFree") < wanted - OTHERS; n++, usleep(10000))
		if (n == 500)
			fail("SwapFree after %s: %ld, not %ld", after, meminfo("SwapFree"), wanted);
}

/* ---- main ------------------------------------------------------------------------------------ */

struct part {
	const char *name;
	void (*run)(void);
};
extern const struct part parts[]; /* ends with a NULL; the program's */

static void run_part(const char *name)
{
	for (const struct part *part = parts; part->name; part++)
		if (!strcmp(part->name, name)) {
			part->run();
			printf("ok %s\n", name);
			fflush(stdout);
			return;
		}
	fail("no part %s", name);
}

int main(int count, char **arguments)
{
	if (count < 4)
		return 0;
	device = arguments[1];
	pages = strtoul(arguments[2], NULL, 0) * 256;
	make_swap(device);
	if (swapon(device, 0))
		fail("swapon");
	for (int n = 3; n < count; n++)
		run_part(arguments[n]);
	if (swapoff(device))
		fail("swapoff at the end");
	printf("ok end\n");
	return 0;
}
