/*
 * report.c - a cache's statistics as text in the layout of Lever's histograms (1999, section 3),
 * and as JSON.
 *
 * The first lines, to the end of the histogram, are the paper's; ours follow. docs/counters.md is
 * the reference.
 */
#include "hash/stats.h"
#include "hash/text.h"

#define MILLI(value) (value) / 1000, (unsigned)((value) % 1000)	   /* for %llu.%03u */
#define TENTHS(value) (value) / 10000, (unsigned)((value) % 10000) /* for %llu.%04u */

static u64 ratio(u64 part, u64 whole, u64 scale)
{
	return whole ? part * scale / whole : 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* What Lever prints. */
static void print_his(const struct hash_cache *cache, const struct hash_statistics *s,
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
		text_printf(out, row < HASH_LAST_ROW ? "%6u" : "   >%u",
			    min(row, HASH_LAST_ROW - 1u));
		text_printf(out, "%9llu%9llu%9llu\n", s->row_buckets[row], s->row_objects[row],
			    ratio(sum, s->objects, 100));
	}
}

static void print_steps(const char *what, u64 lookups, u64 steps, u64 expected_milli, bool expect,
			struct text *out)
{
	text_printf(out, " %s: %llu, iterations/%s: %llu.%03u", what, lookups, what,
		    MILLI(ratio(steps, lookups, 1000)));
	if (expect)
		text_printf(out, " (uniform hashing of this table: %llu.%03u)",
			    MILLI(expected_milli));
	text_printf(out, "\n");
}

static void print_fit(const struct hash_fit *fit, const char *what, bool json, struct text *out)
{
	u64 z = (u64)(fit->z_milli < 0 ? -fit->z_milli : fit->z_milli);

	text_printf(
		out,
		json ? ",\"%s\":{\"chi2\":%llu.%03u,\"degrees_of_freedom\":%llu,\"z\":%s%llu.%03u}"
		     : " %s: chi^2 %llu.%03u, %llu degrees of freedom, z %s%llu.%03u\n",
		what, MILLI(fit->chi2_milli), fit->freedom, fit->z_milli < 0 ? "-" : "", MILLI(z));
}

void hash_report_text(struct hash_cache *cache, struct text *out)
{
	struct hash_statistics s;
	const struct hash_counters *c = &s.counted;

	hash_collect(cache, &s);
	print_his(cache, &s, out);

	bool expect = s.expected_hit_milli;

	text_printf(out, " hash function: %s, %d-bit words; structure: %s\n",
		    cache->trees ? "none" : cache->function, HASH_WORD_BITS, cache->structure);
	text_printf(out, " sizing rule: %s, %llu bytes\n", cache->rule, cache->bytes);
	if (cache->counters) {
		print_steps("hit", c->hits, c->hit_steps, s.expected_hit_milli, expect, out);
		print_steps("miss", c->misses, c->miss_steps, s.expected_miss_milli, expect, out);
		text_printf(out, " key compares: %llu, inserts: %llu, removes: %llu\n", c->compares,
			    c->inserts, c->removes);
	}
	if (!expect)
		return;
	text_printf(out, " largest bucket expected: %llu\n", s.expected_largest);
	if (s.buckets_fit.freedom)
		print_fit(&s.buckets_fit, "bucket sizes against uniform", false, out);
	if (s.histogram_fit.freedom)
		print_fit(&s.histogram_fit, "histogram against binomial", false, out);
	text_printf(out, " Dragon-book Q: %llu.%04u\n", TENTHS(s.dragon_q_tenthousandths));
	text_printf(out, " expected histogram:\n  size  buckets    expected\n");
	for (unsigned row = 0; row < HASH_ROWS; row++) {
		text_printf(out, row < HASH_LAST_ROW ? "%6u" : "   >%u",
			    min(row, HASH_LAST_ROW - 1u));
		text_printf(out, "%9llu%8llu.%03u\n", s.row_buckets[row],
			    MILLI(s.row_expected_milli[row]));
	}
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_number(struct text *out, const char *name, u64 value)
{
	text_printf(out, ",\"%s\":%llu", name, value);
}

static void json_milli(struct text *out, const char *name, u64 value)
{
	text_printf(out, ",\"%s\":%llu.%03u", name, MILLI(value));
}

static void json_row(struct text *out, const char *before, const u64 *row, bool milli)
{
	for (unsigned i = 0; i < HASH_ROWS; i++) {
		text_printf(out, "%s%llu", i ? "," : before, milli ? row[i] / 1000 : row[i]);
		if (milli)
			text_printf(out, ".%03u", (unsigned)(row[i] % 1000));
	}
	text_printf(out, "]");
}

void hash_report_json(struct hash_cache *cache, struct text *out)
{
	static const char *const names[] = {"hits",	"misses",  "hit_steps", "miss_steps",
					    "compares", "inserts", "removes"};
	struct hash_statistics s;
	const struct hash_counters *c = &s.counted;

	hash_collect(cache, &s);
	text_printf(out,
		    "{\"cache\":\"%s\",\"function\":\"%s\",\"structure\":\"%s\",\"rule\":\"%s\"",
		    cache->name, cache->trees ? "none" : cache->function, cache->structure,
		    cache->rule);
	json_number(out, "word", HASH_WORD_BITS);
	json_number(out, cache->trees ? "trees" : "buckets", s.buckets);
	json_number(out, "bytes", cache->bytes);
	json_number(out, "objects", s.objects);
	json_number(out, "largest", s.largest);
	json_number(out, "empty", s.row_buckets[0]);
	if (cache->counters) {
		json_number(out, "lookups", s.lookups);
		for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
			json_number(out, names[i], ((const u64 *)c)[i]);
		json_milli(out, "hit_rate_percent", ratio(c->hits, s.lookups, 100000));
		json_milli(out, "steps_per_lookup",
			   ratio(c->hit_steps + c->miss_steps, s.lookups, 1000));
		json_milli(out, "steps_per_hit", ratio(c->hit_steps, c->hits, 1000));
		json_milli(out, "steps_per_miss", ratio(c->miss_steps, c->misses, 1000));
	}
	json_row(out, ",\"histogram\":{\"buckets\":[", s.row_buckets, false);
	json_row(out, ",\"objects\":[", s.row_objects, false);
	if (!cache->trees) {
		json_row(out, ",\"expected\":[", s.row_expected_milli, true);
		text_printf(out, "}");
		json_milli(out, "expected_steps_per_hit", s.expected_hit_milli);
		json_milli(out, "expected_steps_per_miss", s.expected_miss_milli);
		json_number(out, "expected_largest", s.expected_largest);
		print_fit(&s.buckets_fit, "bucket_fit", true, out);
		print_fit(&s.histogram_fit, "histogram_fit", true, out);
		text_printf(out, ",\"dragon_q\":%llu.%04u", TENTHS(s.dragon_q_tenthousandths));
	}
	text_printf(out, cache->trees ? "}}" : "}");
}
