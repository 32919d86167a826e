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
} numbers[] = {
	{"user", offsetof(struct result, user), false},
	{"sys", offsetof(struct result, system), false},
	{"elapsed", offsetof(struct result, elapsed), false},
	{"cpu", offsetof(struct result, cpu), false},
	{"operations", offsetof(struct result, operations), true},
	{"refused", offsetof(struct result, refused), true},
	{"missing", offsetof(struct result, missing), true},
	{"wrong", offsetof(struct result, wrong), true},
	{"faults", offsetof(struct result, faults), true},
	{"blocks_in", offsetof(struct result, blocks_in), true},
	{"blocks_out", offsetof(struct result, blocks_out), true},
	{"resident_kb", offsetof(struct result, resident), true},
	{"bytes", offsetof(struct result, bytes), true},
	{"disk_bytes", offsetof(struct result, disk_bytes), true},
	{"stored", offsetof(struct result, stored), true},
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
	printf(", \"case\": \"%s %s\"", plan->set->name, result->test);
}

static void print_number(const struct number *number, double value)
{
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
	printf("}\n");
	free(values);
}
