/*
 * report.c - a cache's statistics: the table is walked, the counters are summed, the rest is
 * computed, and comes out as text in the layout of Lever's histograms (1999, section 3) or as JSON.
 * docs/kernel/counters.md is the reference and defines each number.
 *
 * Formulas: HASH_ROWS rows of m C(n,k) (1/m)^k (1-1/m)^(n-k) by the recurrence between neighbours;
 * chi squared of the buckets, (m/n) sum b^2 - n; the Dragon book's Q (Aho, Sethi, Ullman
 * 1986, 7.6). Fractions are whole numbers of thousandths (milli), or as their names say.
 */
#include "hash/cache.h"
#include "hash/real.h"
#include "core/log/text.h"

#define HASH_ROWS 17 /* bucket sizes 0 to 15, and more */
#define HASH_LAST_ROW (HASH_ROWS - 1)

/* A test of what is found against what is expected: chi squared, its degrees of freedom, z. */
struct hash_fit {
	u64 chi2_milli; /* out of range: the largest u64, of bucket sizes less 1000 n */
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

		if (__builtin_add_overflow(chi2, part, &chi2))
			chi2 = ~0ull;
		found = expected = 0;
		bins++;
	}
	/* The sums of buckets and of objects are given. */
	return fit_of(chi2, max(bins, 2u) - 2);
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

/* Walk @cache's table, add its counters, compute. Takes the table's locks one after the other;
 * never sleeps. */
static void collect(struct hash_cache *cache, struct hash_statistics *s)
{
	struct hash_statistics after = {0};

	*s = after;
	add_counters(cache, s);
	cache->walk(cache->table, add_bucket, s);
	/* The table holds what was inserted and not removed. Both are counted under the bucket's
	 * lock, so what changes during the walk is seen in the counters too, and then nothing can
	 * be said. (Not so in trees.) */
	add_counters(cache, &after);
	ASSERT(cache->trees || !cache->counters || after.counted.inserts != s->counted.inserts ||
	       after.counted.removes != s->counted.removes ||
	       s->objects == s->counted.inserts - s->counted.removes);
	if (!cache->trees)
		compute(s);
}

#ifdef CONFIG_DEBUG
u64 hash_cache_objects(struct hash_cache *cache)
{
	struct hash_statistics s;

	collect(cache, &s);
	return s.objects;
}
#endif

/* ---- text ------------------------------------------------------------------------------------ */

#define MILLI(value) (value) / 1000, (unsigned)((value) % 1000)	   /* for %llu.%03u */
#define TENTHS(value) (value) / 10000, (unsigned)((value) % 10000) /* for %llu.%04u */

static u64 ratio(u64 part, u64 whole, u64 scale)
{
	return whole ? part * scale / whole : 0;
}

/* The first column of a histogram: the size, or "more than". */
static void print_row_size(unsigned row, struct text *out)
{
	if (row < HASH_LAST_ROW)
		text_printf(out, "%6u", row);
	else
		text_printf(out, "   >%u", HASH_LAST_ROW - 1u);
}

/* What Lever prints: the first lines, to the end of the histogram. Ours follow. */
static void print_histogram(const struct hash_cache *cache, const struct hash_statistics *s,
			    struct text *out)
{
	const char *bucket = cache->trees ? "tree" : "bucket";
	const struct hash_counters *c = &s->counted;
	u64 sum = 0;

	text_printf(out, "%s cache total lookups: ", cache->title);
	if (cache->counters)
		text_printf(out, "%llu  (hit rate: %llu%%)\n", s->lookups,
			    ratio(c->hits, s->lookups, 100));
	else
		text_printf(out, "not counted (HASH_STATS=n)\n");
	text_printf(out, " hash table size is %llu %ss\n", s->buckets, bucket);
	text_printf(out, " hash table contains %llu objects\n", s->objects);
	text_printf(out, " largest %s contains %llu %s\n", bucket, s->largest, cache->objects);
	if (cache->counters)
		text_printf(out, " %s() iterations/lookup: %llu/1000\n", cache->finder,
			    ratio(c->hit_steps + c->miss_steps, s->lookups, 1000));
	text_printf(out, " hash table histogram:\n  size  buckets%9s  sum-pct\n", cache->objects);
	for (unsigned row = 0; row < HASH_ROWS; row++) {
		sum += s->row_objects[row];
		print_row_size(row, out);
		text_printf(out, "%9llu%9llu%9llu\n", s->row_buckets[row], s->row_objects[row],
			    ratio(sum, s->objects, 100));
	}
}

static void print_steps(const struct hash_statistics *s, const char *what, u64 lookups, u64 steps,
			u64 expected_milli, struct text *out)
{
	text_printf(out, " %s: %llu, iterations/%s: %llu.%03u", what, lookups, what,
		    MILLI(ratio(steps, lookups, 1000)));
	if (s->expected_hit_milli) /* computed */
		text_printf(out, " (uniform hashing of this table: %llu.%03u)",
			    MILLI(expected_milli));
	text_printf(out, "\n");
}

/* z has a sign, which %llu has not. */
static const char *sign_of(s64 value)
{
	return value < 0 ? "-" : "";
}

static u64 magnitude(s64 value)
{
	return (u64)(value < 0 ? -value : value);
}

static void print_fit(const struct hash_fit *fit, const char *what, struct text *out)
{
	if (!fit->freedom)
		return;
	text_printf(out, " %s: chi^2 %llu.%03u, %llu degrees of freedom, z %s%llu.%03u\n", what,
		    MILLI(fit->chi2_milli), fit->freedom, sign_of(fit->z_milli),
		    MILLI(magnitude(fit->z_milli)));
}

void hash_report_text(struct hash_cache *cache, struct text *out)
{
	struct hash_statistics s;
	const struct hash_counters *c = &s.counted;

	collect(cache, &s);
	print_histogram(cache, &s, out);
	text_printf(out, " hash function: %s, %d-bit words; structure: %s\n", cache->function,
		    HASH_WORD_BITS, cache->structure);
	text_printf(out, " sizing rule: %s, %llu bytes\n", cache->rule, cache->bytes);
	if (cache->counters) {
		print_steps(&s, "hit", c->hits, c->hit_steps, s.expected_hit_milli, out);
		print_steps(&s, "miss", c->misses, c->miss_steps, s.expected_miss_milli, out);
		text_printf(out, " key compares: %llu, inserts: %llu, removes: %llu\n", c->compares,
			    c->inserts, c->removes);
	}
	if (!s.expected_hit_milli)
		return;
	text_printf(out, " largest bucket expected: %llu\n", s.expected_largest);
	print_fit(&s.buckets_fit, "bucket sizes against uniform", out);
	print_fit(&s.histogram_fit, "histogram against binomial", out);
	text_printf(out, " Dragon-book Q: %llu.%04u\n", TENTHS(s.dragon_q_tenthousandths));
	text_printf(out, " expected histogram:\n  size  buckets    expected\n");
	for (unsigned row = 0; row < HASH_ROWS; row++) {
		print_row_size(row, out);
		text_printf(out, "%9llu%8llu.%03u\n", s.row_buckets[row],
			    MILLI(s.row_expected_milli[row]));
	}
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_row(struct text *out, const char *before, const u64 *row)
{
	text_printf(out, "%s%llu", before, row[0]);
	for (unsigned i = 1; i < HASH_ROWS; i++)
		text_printf(out, ",%llu", row[i]);
	text_printf(out, "]");
}

static void json_milli_row(struct text *out, const char *before, const u64 *row)
{
	text_printf(out, "%s%llu.%03u", before, MILLI(row[0]));
	for (unsigned i = 1; i < HASH_ROWS; i++)
		text_printf(out, ",%llu.%03u", MILLI(row[i]));
	text_printf(out, "]");
}

static void json_fit(struct text *out, const char *name, const struct hash_fit *fit)
{
	text_printf(out,
		    ",\"%s\":{\"chi2\":%llu.%03u,\"degrees_of_freedom\":%llu,\"z\":%s%llu.%03u}",
		    name, MILLI(fit->chi2_milli), fit->freedom, sign_of(fit->z_milli),
		    MILLI(magnitude(fit->z_milli)));
}

void hash_report_json(struct hash_cache *cache, struct text *out)
{
	static const char *const names[] = {"hits",	"misses",  "hit_steps", "miss_steps",
					    "compares", "inserts", "removes"};
	struct hash_statistics s;
	const struct hash_counters *c = &s.counted;

	collect(cache, &s);
	text_printf(out,
		    "{\"cache\":\"%s\",\"function\":\"%s\",\"structure\":\"%s\",\"rule\":\"%s\","
		    "\"word\":%d",
		    cache->name, cache->function, cache->structure, cache->rule, HASH_WORD_BITS);
	text_printf(out,
		    ",\"%s\":%llu,\"bytes\":%llu,\"objects\":%llu,\"largest\":%llu,\"empty\":%llu",
		    cache->trees ? "trees" : "buckets", s.buckets, cache->bytes, s.objects,
		    s.largest, s.row_buckets[0]);
	if (cache->counters) {
		text_printf(out, ",\"lookups\":%llu", s.lookups);
		for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
			text_printf(out, ",\"%s\":%llu", names[i], ((const u64 *)c)[i]);
		text_printf(out,
			    ",\"hit_rate_percent\":%llu.%03u,\"steps_per_lookup\":%llu.%03u"
			    ",\"steps_per_hit\":%llu.%03u,\"steps_per_miss\":%llu.%03u",
			    MILLI(ratio(c->hits, s.lookups, 100000)),
			    MILLI(ratio(c->hit_steps + c->miss_steps, s.lookups, 1000)),
			    MILLI(ratio(c->hit_steps, c->hits, 1000)),
			    MILLI(ratio(c->miss_steps, c->misses, 1000)));
	}
	json_row(out, ",\"histogram\":{\"buckets\":[", s.row_buckets);
	json_row(out, ",\"objects\":[", s.row_objects);
	if (!cache->trees)
		json_milli_row(out, ",\"expected\":[", s.row_expected_milli);
	text_printf(out, "}");
	if (!cache->trees) {
		text_printf(out,
			    ",\"expected_steps_per_hit\":%llu.%03u"
			    ",\"expected_steps_per_miss\":%llu.%03u,\"expected_largest\":%llu",
			    MILLI(s.expected_hit_milli), MILLI(s.expected_miss_milli),
			    s.expected_largest);
		json_fit(out, "bucket_fit", &s.buckets_fit);
		json_fit(out, "histogram_fit", &s.histogram_fit);
		text_printf(out, ",\"dragon_q\":%llu.%04u", TENTHS(s.dragon_q_tenthousandths));
	}
	text_printf(out, "}");
}
