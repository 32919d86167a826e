/*
 * report.c - a line of JSON for each result, and one for the medians of a test's runs.
 *
 * A line of a run has "run", counted from 1; a line of medians has "runs" and, of each time and
 * count, the median by itself, so that user and system need not add up to what cpu says.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const struct number {
	const char *name;
	size_t offset;
	bool whole;
	bool optional; /* left out where it is 0 */
} numbers[] = {
	{"user", offsetof(struct result, user), false, false},
	{"sys", offsetof(struct result, system), false, false},
	{"elapsed", offsetof(struct result, elapsed), false, false},
	{"cpu", offsetof(struct result, cpu), false, false},
	{"operations", offsetof(struct result, operations), true, false},
	{"refused", offsetof(struct result, refused), true, false},
	{"missing", offsetof(struct result, missing), true, false},
	{"wrong", offsetof(struct result, wrong), true, false},
	{"faults", offsetof(struct result, faults), true, false},
	{"blocks_in", offsetof(struct result, blocks_in), true, false},
	{"blocks_out", offsetof(struct result, blocks_out), true, false},
	{"resident_kb", offsetof(struct result, resident), true, false},
	{"bytes", offsetof(struct result, bytes), true, false},
	{"disk_bytes", offsetof(struct result, disk_bytes), true, false},
	{"stored", offsetof(struct result, stored), true, false},
	{"wait", offsetof(struct result, wait), false, true},
	{"operations_per_second", offsetof(struct result, rate), false, true},
	{"disk_per_byte", offsetof(struct result, disk_ratio), false, true},
};
enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

static double value_of(const struct result *result, const struct number *number)
{
	const char *at = (const char *)result + number->offset;

	return number->whole ? (double)*(const uint64_t *)at : *(const double *)at;
}

static void print_start(const struct plan *plan, const struct variant *variant,
			const struct result *result)
{
	printf("{\"system\": \"%s\", \"data\": \"%s\", \"test\": \"%s\", \"threads\": %u",
	       variant->label, plan->set->name, result->test, result->threads);
	/* What an experiment of the lab calls it. */
	printf(", \"case\": \"%s %s", plan->set->name, result->test);
	if (!result->test[1])
		printf(", %u thread%s", result->threads, result->threads > 1 ? "s" : "");
	printf("\"");
	if (result->locked)
		printf(", \"locked\": true");
}

/* What lab/sweep/measures.py looks for in a line: the part of the simulation, and its time. */
static void print_part(const struct result *result)
{
	if (result->part)
		printf(", \"part\": %llu, \"elapsed_ns\": %.0f",
		       (unsigned long long)result->part - 1, result->elapsed * 1e9);
}

static void print_number(const struct number *number, double value)
{
	if (number->optional && value == 0)
		return;
	if (number->whole)
		printf(", \"%s\": %.0f", number->name, value);
	else
		printf(", \"%s\": %.6f", number->name, value);
}

void report_result(const struct plan *plan, const struct variant *variant, unsigned run,
		   const struct result *result)
{
	print_start(plan, variant, result);
	printf(", \"run\": %u", run);
	if (result->skipped[0]) {
		printf(", \"skipped\": \"%s\"}\n", result->skipped);
		return;
	}
	if (result->error)
		printf(", \"error\": \"%s\"", strerror(-result->error));
	for (size_t i = 0; i < NUMBERS; i++)
		print_number(&numbers[i], value_of(result, &numbers[i]));
	print_part(result);
	printf("}\n");
}

static int by_size(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), by_size);
	if (count % 2)
		return values[count / 2];
	return (values[count / 2 - 1] + values[count / 2]) / 2;
}

void report_median(const struct plan *plan, const struct variant *variant, struct result *results,
		   unsigned count)
{
	double *values = malloc(count * sizeof(*values));

	if (!values || !count) {
		free(values);
		return;
	}
	print_start(plan, variant, results);
	printf(", \"runs\": %u", count);
	for (size_t i = 0; i < NUMBERS; i++) {
		for (unsigned run = 0; run < count; run++)
			values[run] = value_of(&results[run], &numbers[i]);
		print_number(&numbers[i], median(values, count));
	}
	if (count == 1)
		print_part(results);
	printf("}\n");
	free(values);
}
