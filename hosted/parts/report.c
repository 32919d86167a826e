/*
 * report.c - the statistics and reports of a cache whose buckets and counters the test gives.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash/report.c"
#include "core/log/text.c"
#include "core/base/format.c"

struct cpu cpus[NR_CPUS];
static const u64 *sizes;
static u64 buckets;
static bool no_memory;

/* "%pS" is not for here. */
const char *symbol_lookup(u64 address, u64 *offset)
{
	return NULL;
}

void panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	exit(3);
}

void *kmalloc(size_t size, unsigned gfp)
{
	return no_memory ? NULL : malloc(size);
}

void kfree(const void *object)
{
	free((void *)object);
}

static void walk(void *table, void (*visit)(u64 size, void *argument), void *argument)
{
	for (u64 i = 0; i < buckets; i++)
		visit(sizes[i], argument);
}

/* The report into @out, terminated; its length, or -errno. @counters: seven, split over two CPUs.
 */
long report(const char *name, const u64 *given, u64 count, const u64 *counters, bool json,
	    bool trees, char *out, u64 size)
{
	struct hash_cache cache = {
		.title = strcmp(name, "buffer") ? "Dentry" : "Buffer",
		.objects = strcmp(name, "buffer") ? "dentries" : "buffers",
		.finder = strcmp(name, "buffer") ? "d_lookup" : "find_buffer",
		.name = name,
		.function = trees ? "none" : "mult",
		.structure = "chained",
		.walk = walk,
		.trees = trees,
		.bytes = count * 8,
		.rule = "2.4",
		.counters = HASH_COUNTERS(dentry),
	};
	struct text text = {0};
	long result;

	for (unsigned i = 0; i < 7; i++) {
		((u64 *)&cache.counters[0])[i] = counters[i] / 3;
		((u64 *)&cache.counters[NR_CPUS - 1])[i] = counters[i] - counters[i] / 3;
	}
	sizes = given;
	buckets = count;
	if (json)
		hash_report_json(&cache, &text);
	else
		hash_report_text(&cache, &text);
	result = text.error ? text.error : (long)text.length;
	if (result >= 0) {
		snprintf(out, size, "%.*s", (int)text.length, text.data);
	}
	kfree(text.data);
	return result;
}

/* @piece behind @before other bytes, into @out; how long it is all together. */
u64 append(u64 before, const char *piece, char *out)
{
	struct text text = {0};
	u64 length;

	memset(out, '-', before);
	text_write(&text, out, before);
	text_printf(&text, "%s", piece);
	length = text.length;
	memcpy(out, text.data, length);
	kfree(text.data);
	return length;
}

void fail_allocations(bool fail)
{
	no_memory = fail;
}

/* real.h by itself: base^exponent * scale, rounded; a quotient. */
u64 power_scaled(u64 numerator, u64 denominator, u64 exponent, u64 scale)
{
	return real_scaled(
		real_power(real_divide(real_of(numerator), real_of(denominator)), exponent), scale);
}

u64 quotient_scaled(u64 a, u64 b, u64 scale)
{
	return real_scaled(real_divide(real_of(a), real_of(b)), scale);
}
