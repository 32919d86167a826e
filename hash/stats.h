/*
 * stats.h - what the reports say of a cache, as numbers. docs/counters.md defines each of them.
 *
 * Fractions are whole numbers of thousandths (milli), or as their names say. Private to hash/.
 */
#pragma once

#include "hash/cache.h"

#define HASH_ROWS 17 /* bucket sizes 0 to 15, and more */
#define HASH_LAST_ROW (HASH_ROWS - 1)

/* A test of what is found against what is expected: chi squared, its degrees of freedom, z. */
struct hash_fit {
	u64 chi2_milli; /* the largest u64: out of range */
	u64 freedom;	/* 0: nothing to test */
	s64 z_milli;	/* (chi2 - freedom) / sqrt(2 freedom) */
};

struct hash_statistics {
	/* Walked. */
	u64 buckets, objects, largest;
	u64 row_buckets[HASH_ROWS], row_objects[HASH_ROWS];
	u64 squares; /* sum of the squared bucket sizes */

	/* Counted, summed over CPUs; only with CONFIG_HASH_STATS. */
	struct hash_counters counted;
	u64 lookups;

	/* Computed; not for trees. */
	u64 row_expected_milli[HASH_ROWS]; /* binomial */
	u64 expected_largest;
	u64 expected_hit_milli, expected_miss_milli; /* steps */
	u64 dragon_q_tenthousandths;
	struct hash_fit buckets_fit;   /* bucket sizes against a uniform spread */
	struct hash_fit histogram_fit; /* the histogram against the binomial one */
};

/* Walk @cache's table, add its counters, compute. Takes the table's locks one after the other;
 * never sleeps. */
void hash_collect(struct hash_cache *cache, struct hash_statistics *statistics);
