/*
 * kernel.c - native: the log, the clock's scale, start-up.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/kernel.h"
#include "core/log/symbols.h"
#include "core/lock/rcu.h"
#include "hosted/machine/hosted.h"
#include "hosted/native/machine/machine.h"

#define CALIBRATION_NS (20 * NSEC_PER_MSEC)

bool system_running = true;

/* ---- log --------------------------------------------------------------------------------------
 */

/* Warnings and worse: whoever measures is told what the kernel complains of. */
void printk(const char *format, ...)
{
	char text[512];
	const char *message = text;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (text[0] == '<' && text[1] && text[2] == '>')
		message = text + 3;
	if (message != text && text[1] <= '4')
		fprintf(stderr, "# %s", message);
}

void panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "panic: ");
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
	(void)address, (void)offset;
	return NULL;
}

/* ---- time -------------------------------------------------------------------------------------
 */

u64 arch_rtc_seconds(void)
{
	return (u64)time(NULL);
}

static u64 host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static void clock_start(void)
{
	u64 began = host_ns(), ns;

	clock_base = arch_cycles();
	do
		ns = host_ns() - began;
	while (ns < CALIBRATION_NS);
	clock_ns_per_cycle = (ns << 32) / (arch_cycles() - clock_base);
}

/* ---- start-up ---------------------------------------------------------------------------------
 */

void native_start(unsigned cpus_wanted, unsigned megabytes, const char *options)
{
	BUG_ON(cpus_wanted < 1 || cpus_wanted > NR_CPUS);
	cmdline_init(options);
	clock_start();
	time_init();
	random_init();
	nr_cpus = cpus_wanted;
	for (unsigned cpu = 1; cpu < nr_cpus; cpu++) {
		native_cpu = cpu; /* it idles until it has a thread */
		native_idle();
	}
	native_cpu = 0;
	hosted_init(megabytes);
}
