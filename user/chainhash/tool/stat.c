/*
 * stat.c - what a table is like, in the form of the kernel's reports on its hash tables.
 *
 * What is to be expected. With n records and a hash that spreads evenly, a bucket that has split in
 * this generation gets each with probability 1/2^g, one that has not yet with twice that; both have
 * a binomial number of records (docs/kernel/counters.md has the formulas for tables of equal
 * buckets). Chi squared is of the histogram, rows pooled so that each expects five buckets or more.
 */
#include "tool.h"

#include <math.h>

enum { ROWS = 256 };

struct expectation {
	double rows[ROWS];
	double chi2, z;
	unsigned freedom;
};

/* Add the histogram of @buckets buckets that get each of @n records with probability @p. */
static void add_binomial(double *rows, double buckets, uint64_t n, double p)
{
	double sum = 0;

	p = fmin(p, 1 - 1e-16); /* one bucket gets all: the logarithm of 0 times 0 would be none */
	for (unsigned k = 0; k < ROWS && k <= n && buckets > 0; k++) {
		double logarithm =
			lgamma((double)n + 1) - lgamma(k + 1.0) - lgamma((double)(n - k) + 1);
		double part = exp(logarithm + k * log(p) + (double)(n - k) * log1p(-p));

		if (k == ROWS - 1)
			part = 1 - sum;
		rows[k] += buckets * part;
		sum += part;
	}
}

static void expect(const struct chainhash_status *about, const struct chainhash_histogram *found,
		   struct expectation *expected)
{
	uint64_t half = 1, split;
	double pooled = 0, seen = 0, left = (double)about->buckets;
	unsigned cells = 1; /* the last one, of all that is left */

	memset(expected, 0, sizeof(*expected));
	while (half * 2 <= about->buckets)
		half *= 2;
	split = about->buckets - half;
	add_binomial(expected->rows, (double)(half - split), about->records, 1.0 / (double)half);
	add_binomial(expected->rows, 2.0 * (double)split, about->records, 0.5 / (double)half);
	for (unsigned k = 0; k < ROWS; k++) {
		pooled += expected->rows[k];
		seen += (double)found->counts[k];
		left -= expected->rows[k];
		if (pooled < 5 || left < 5)
			continue;
		expected->chi2 += (seen - pooled) * (seen - pooled) / pooled;
		cells++;
		pooled = seen = 0;
	}
	expected->chi2 += (seen - pooled) * (seen - pooled) / pooled;
	if (cells > 1) {
		expected->freedom = cells - 1;
		expected->z = (expected->chi2 - expected->freedom) / sqrt(2.0 * expected->freedom);
	}
}

static unsigned last_row(const struct chainhash_histogram *found,
			 const struct expectation *expected)
{
	unsigned last = ROWS - 1;

	while (last && !found->counts[last] && expected->rows[last] < 0.5)
		last--;
	return last;
}

static void print_text(const struct chainhash_status *about,
		       const struct chainhash_histogram *found, const struct expectation *expected)
{
	uint64_t sum = 0;
	double all = about->records ? (double)about->records : 1;

	printf("Table of %" PRIu64 " records, sync %" PRIu64 "\n", about->records, about->sequence);
	printf(" bucket size %u, fill factor %u, splitting %s, checksums %s\n", about->bucket_size,
	       about->fill_factor, split_names[about->split], about->checksums ? "yes" : "no");
	printf(" hash table size is %" PRIu64 " buckets\n", about->buckets);
	printf(" largest bucket contains %" PRIu64 " records\n", found->largest);
	printf(" hash table histogram:\n  size  buckets  expected  records  sum-pct\n");
	for (unsigned k = 0; k <= last_row(found, expected); k++) {
		sum += found->counts[k] * k;
		printf("%5u%c %8" PRIu64 " %9.1f %8" PRIu64 " %8.0f\n", k,
		       k == ROWS - 1 ? '+' : ' ', found->counts[k], expected->rows[k],
		       found->counts[k] * k, 100 * (double)sum / all);
	}
	printf(" hash function: %s\n", about->hash);
	if (expected->freedom)
		printf(" histogram against uniform: chi^2 %.3f, %u degrees of freedom, z %.3f\n",
		       expected->chi2, expected->freedom, expected->z);
	printf(" overflow: %" PRIu64 " buckets with %" PRIu64 " chunks on %" PRIu64
	       " pages, %.1f%% of the records\n",
	       found->chained, found->chunks, about->overflow_pages,
	       100 * (double)found->overflow_records / all);
	printf(" larger than a page: %" PRIu64 " records\n", found->big);
	printf(" fill: %.1f records a bucket, %.1f%% of %" PRIu64 " bytes of pages\n",
	       (double)about->records / (double)about->buckets,
	       100 * (double)about->record_bytes / (double)found->page_bytes, found->page_bytes);
	printf(" file: %" PRIu64 " bytes%s\n", about->file_bytes,
	       about->torn ? "; one header is torn: the state before counts" : "");
}

static void print_as_json(const struct chainhash_status *about,
			  const struct chainhash_histogram *found,
			  const struct expectation *expected)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{"records", about->records},
		{"record_bytes", about->record_bytes},
		{"sequence", about->sequence},
		{"bucket_size", about->bucket_size},
		{"fill_factor", about->fill_factor},
		{"split", about->split},
		{"buckets", about->buckets},
		{"overflow_pages", about->overflow_pages},
		{"file_bytes", about->file_bytes},
		{"largest", found->largest},
		{"chained_buckets", found->chained},
		{"chunks", found->chunks},
		{"overflow_records", found->overflow_records},
		{"big", found->big},
		{"page_bytes", found->page_bytes},
		{"freedom", expected->freedom},
		{"torn", about->torn},
	};
	unsigned last = last_row(found, expected);

	printf("{\"checksums\": %s, \"hash\": \"%s\"", about->checksums ? "true" : "false",
	       about->hash);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		printf(",\n \"%s\": %" PRIu64, numbers[i].name, numbers[i].value);
	printf(",\n \"chi2\": %.3f, \"z\": %.3f,\n \"histogram\": [", expected->chi2, expected->z);
	for (unsigned k = 0; k <= last; k++)
		printf("%s%" PRIu64, k ? ", " : "", found->counts[k]);
	printf("],\n \"expected\": [");
	for (unsigned k = 0; k <= last; k++)
		printf("%s%.3f", k ? ", " : "", expected->rows[k]);
	printf("]}\n");
}

int command_stat(struct settings *settings, struct chainhash *table)
{
	struct chainhash_histogram found;
	struct chainhash_status about;
	struct expectation expected;
	int error = chainhash_histogram(table, &found);

	if (error)
		return complain(error, "%s", settings->words[0]);
	chainhash_status(table, &about);
	expect(&about, &found, &expected);
	if (settings->json)
		print_as_json(&about, &found, &expected);
	else
		print_text(&about, &found, &expected);
	return DONE;
}
