/*
 * kernel.c - hosted: the log, time, random numbers, and the tests' own services.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/block/dirty.h"
#include "fs/file/file.h"
#include "hosted/machine/hosted.h"
#include "core/log/printk.h"
#include "core/log/symbols.h"
#include "core/sched/sched.h"
#include "core/memory/page_alloc.h"
#include "core/memory/slab.h"

struct cpu cpus[NR_CPUS];
unsigned nr_cpus = 1;
bool hosted_irqs_off, system_running = true;
u64 hosted_clock_ns = 60 * NSEC_PER_SEC;
uintptr_t hosted_fault_start, hosted_fault_end;
bool hosted_quiet;
char hosted_last_error[256];

/* ---- log ------------------------------------------------------------------------------------- */

void printk(const char *format, ...)
{
	char text[512];
	va_list arguments;
	const char *message = text;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (text[0] == '<' && text[1] && text[2] == '>')
		message = text + 3;
	if (message != text && text[1] <= '3')
		snprintf(hosted_last_error, sizeof(hosted_last_error), "%.250s", message);
	if (!hosted_quiet)
		fprintf(stderr, "# %s", message);
}

void panic(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	va_start(arguments, format);
	fprintf(stderr, "panic (%s): ", test_place());
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	va_end(arguments);
	abort();
}

void assert_failed(const char *what, const char *file, int line, const char *function)
{
	panic("%s:%d: %s: does not hold: %s", file, line, function, what);
}

/* Functions are named by the debugger. */
const char *symbol_lookup(u64 address, u64 *offset)
{
	return NULL;
}

void console_write(const char *text, size_t length, enum console_text kind)
{
	fwrite(text, 1, length, stderr);
}

/* ---- random numbers -------------------------------------------------------------------------- */

u64 rng_next(struct rng *rng)
{
	u64 z = rng->state += 0x9e3779b97f4a7c15ull; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static struct rng kernel_rng = {1};

bool random_fixed; /* no seed= here: what is drawn comes of the test's own seed anyway */

u64 random_u64(void)
{
	return rng_next(&kernel_rng);
}

void get_random_bytes(void *buffer, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((u8 *)buffer)[i] = (u8)random_u64();
}

/* ---- programs of the host -------------------------------------------------------------------- */

int run_command(const char *log, const char *format, ...)
{
	char command[2048], whole[2400];
	va_list arguments;
	int status;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	snprintf(whole, sizeof(whole), "PATH=$PATH:/sbin:/usr/sbin; { %s; } >%s 2>&1 </dev/null",
		 command, log ? log : "/dev/null");
	status = system(whole);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static char scratch_path[64];
static pid_t scratch_owner;

static void remove_scratch(void)
{
	if (getpid() == scratch_owner)
		run_command(NULL, "rm -rf %s", scratch_path);
}

const char *scratch(void)
{
	if (!scratch_path[0]) {
		strcpy(scratch_path, "/tmp/chainwalk-hosted-XXXXXX");
		if (!mkdtemp(scratch_path))
			panic("no temporary directory");
		scratch_owner = getpid();
		atexit(remove_scratch);
	}
	return scratch_path;
}
