/*
 * stats.c - the numbers of a report: the table is walked, the counters are summed, the rest is
 * computed.
 *
 * Formulas: HASH_ROWS rows of m C(n,k) (1/m)^k (1-1/m)^(n-k) by the recurrence between neighbours;
 * chi squared of the buckets, (m/n) sum b^2 - n; the Dragon book's Q (Aho, Sethi, Ullman
 * 1986, 7.6).
 */
#include "hash/stats.h"

#include "hash/real.h"

#ifdef CONFIG_HASH_STATS
struct hash_counters page_counters[NR_CPUS], buffer_counters[NR_CPUS], inode_counters[NR_CPUS],
	dentry_counters[NR_CPUS];
#endif

#ifdef CONFIG_DEBUG
void hash_check_bucket(const struct hash_cache *cache, u64 bucket)
{
	if (unlikely(bucket >= cache->entries))
		panic("%s_hash of %s.h gives bucket %llu, but the table has %llu", cache->name,
		      cache->function, bucket, cache->entries);
}
#endif

/* ---- computing ------------------------------------------------------------------------------- */

static struct real distance(u64 a, u64 b)
{
	return real_of(a > b ? a - b : b - a);
}

static struct hash_fit fit_of(u64 chi2_milli, u64 freedom)
{
	u64 expected = freedom * 1000, z = 0;

	if (freedom)
		z = real_scaled(real_divide(distance(chi2_milli, expected),
					    real_of(int_sqrt(freedom << 33))),
				1 << 16);
	z = min(z, (u64)INT64_MAX);
	return (struct hash_fit){chi2_milli, freedom, chi2_milli < expected ? -(s64)z : (s64)z};
}

/* Rows whose expected number is below 5 are taken together with their neighbours, as chi squared
 * wants it. */
static struct hash_fit fit_histogram(const struct hash_statistics *s)
{
	u64 chi2 = 0, found = 0, expected = 0, left = s->buckets * 1000;
	unsigned bins = 0;

	for (unsigned row = 0; row < HASH_ROWS; row++) {
		found += s->row_buckets[row] * 1000;
		expected += s->row_expected_milli[row];
		left -= min(left, s->row_expected_milli[row]);
		if (row < HASH_LAST_ROW && (expected < 5000 || left < 5000))
			continue;
		if (!expected)
			break;

		struct real off = distance(found, expected);
		u64 part = real_scaled(real_divide(real_multiply(off, off), real_of(expected)), 1);

		chi2 = part > ~chi2 ? ~0ull : chi2 + part;
		found = expected = 0;
		bins++;
	}
	/* The sums of buckets and of objects are given. */
	return fit_of(chi2, bins > 2 ? bins - 2 : 0);
}

/* The binomial histogram, and the largest k for which at least one bucket is expected to hold k or
 * more. */
static void expect_histogram(struct hash_statistics *s)
{
	u64 m = s->buckets, n = s->objects;
	u64 at_least = m << 32; /* buckets with k objects or more, in 2^-32 */
	struct real expected = real_power(real_divide(real_of(m - 1), real_of(m)), n);

	expected = real_multiply(expected, real_of(m));
	for (u64 k = 0; k <= n; k++) {
		if (k < HASH_LAST_ROW)
			s->row_expected_milli[k] = real_scaled(expected, 1000);
		else if (k == HASH_LAST_ROW)
			s->row_expected_milli[k] =
				(at_least >> 32) * 1000 + ((at_least & 0xffffffff) * 1000 >> 32);
		if (at_least >= 1ull << 32)
			s->expected_largest = k;
		else if (k >= HASH_LAST_ROW)
			break;
		at_least -= min(at_least, real_scaled(expected, 1ull << 32));
		expected = real_divide(real_multiply(expected, real_of(n - k)),
				       real_of((k + 1) * (m - 1)));
	}
}

static void compute(struct hash_statistics *s)
{
	u64 m = s->buckets, n = s->objects;

	if (!n || m < 2)
		return;

	struct real spread = real_multiply(real_of(m), real_of(s->squares));
	u64 chi2 = real_scaled(real_divide(spread, real_of(n)), 1000);

	expect_histogram(s);
	s->expected_hit_milli = 1000 + (n - 1) * 500 / m;
	s->expected_miss_milli = n * 1000 / m;
	s->buckets_fit = fit_of(chi2 - min(chi2, n * 1000), m - 1);
	s->dragon_q_tenthousandths =
		real_scaled(real_divide(real_multiply(real_of(m), real_of(s->squares + n)),
					real_multiply(real_of(n), real_of(n + 2 * m - 1))),
			    10000);
	s->histogram_fit = fit_histogram(s);
}

/* ---- collecting ------------------------------------------------------------------------------ */

static void add_bucket(u64 size, void *argument)
{
	struct hash_statistics *s = argument;
	u64 row = min(size, (u64)HASH_LAST_ROW);

	s->buckets++;
	s->objects += size;
	s->squares += size * size;
	s->largest = max(s->largest, size);
	s->row_buckets[row]++;
	s->row_objects[row] += size;
}

static void add_counters(const struct hash_cache *cache, struct hash_statistics *s)
{
	for (unsigned cpu = 0; cache->counters && cpu < NR_CPUS; cpu++) {
		const u64 *from = (const u64 *)&cache->counters[cpu];

		for (unsigned i = 0; i < HASH_COUNTED; i++)
			((u64 *)&s->counted)[i] += READ_ONCE(from[i]);
	}
	s->lookups = s->counted.hits + s->counted.misses;
}

/*
 * Debug builds: the table holds what was inserted and not removed. Both are counted under the
 * bucket's lock, so what changes during the walk is seen in the counters too, and then nothing can
 * be said. (Not so in trees.)
 */
static void check_objects(const struct hash_cache *cache, const struct hash_statistics *s)
{
	struct hash_statistics after = {0};

	add_counters(cache, &after);
	ASSERT(cache->trees || !cache->counters || after.counted.inserts != s->counted.inserts ||
	       after.counted.removes != s->counted.removes ||
	       s->objects == s->counted.inserts - s->counted.removes);
}

void hash_collect(struct hash_cache *cache, struct hash_statistics *s)
{
	*s = (struct hash_statistics){0};
	add_counters(cache, s);
	cache->walk(cache->table, add_bucket, s);
	check_objects(cache, s);
	if (!cache->trees)
		compute(s);
}
