/*
 * report.c - a cache's statistics as text in the layout of Lever's histograms (1999, section 3),
 * and as JSON.
 *
 * The first lines, to the end of the histogram, are the paper's; ours follow. docs/counters.md is
 * the reference.
 */
#include "hash/stats.h"
#include "hash/text.h"
#include "kernel/core/string.h"

#define ULL(value) ((unsigned long long)(value))
#define MILLI(value) ULL((value) / 1000), (unsigned)((value) % 1000)

static u64 ratio(u64 part, u64 whole, u64 scale)
{
	return whole ? part * scale / whole : 0;
}

/* "page" -> "pages", "dentry" -> "dentries". */
static const char *plural(const struct hash_cache *cache, char *buffer, size_t size)
{
	int stem = (int)strlen(cache->object);
	bool y = cache->object[stem - 1] == 'y';

	snprintf(buffer, size, "%.*s%s", y ? stem - 1 : stem, cache->object, y ? "ies" : "s");
	return buffer;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_head(const struct hash_cache *cache, const struct hash_statistics *s,
		       struct text *out)
{
	char objects[16];

	text_printf(out, "%s cache total lookups: ", cache->title);
	if (cache->counters)
		text_printf(out, "%llu  (hit rate: %llu%%)\n", ULL(s->lookups),
			    ULL(ratio(s->counted.hits, s->lookups, 100)));
	else
		text_printf(out, "not counted (HASH_STATS=n)\n");
	text_printf(out, " hash table size is %llu %s\n", ULL(s->buckets),
		    cache->trees ? "trees" : "buckets");
	text_printf(out, " hash table contains %llu objects\n", ULL(s->objects));
	text_printf(out, " largest %s contains %llu %s\n", cache->trees ? "tree" : "bucket",
		    ULL(s->largest), plural(cache, objects, sizeof(objects)));
	if (cache->counters)
		text_printf(
			out, " %s() iterations/lookup: %llu/1000\n", cache->finder,
			ULL(ratio(s->counted.hit_steps + s->counted.miss_steps, s->lookups, 1000)));
}

static void print_histogram(const struct hash_cache *cache, const struct hash_statistics *s,
			    struct text *out)
{
	char objects[16], size[8];
	u64 sum = 0;

	text_printf(out, " hash table histogram:\n  size  buckets%9s  sum-pct\n",
		    plural(cache, objects, sizeof(objects)));
	for (unsigned row = 0; row < HASH_ROWS; row++) {
		snprintf(size, sizeof(size), row < HASH_LAST_ROW ? "%u" : ">%u",
			 min(row, HASH_LAST_ROW - 1u));
		sum += s->row_objects[row];
		text_printf(out, "%6s%9llu%9llu%9llu\n", size, ULL(s->row_buckets[row]),
			    ULL(s->row_objects[row]), ULL(ratio(sum, s->objects, 100)));
	}
}

static void print_fit(const char *what, const struct hash_fit *fit, struct text *out)
{
	u64 z = (u64)(fit->z_milli < 0 ? -fit->z_milli : fit->z_milli);

	if (fit->freedom)
		text_printf(out, " %s: chi^2 %llu.%03u, %llu degrees of freedom, z %s%llu.%03u\n",
			    what, MILLI(fit->chi2_milli), ULL(fit->freedom),
			    fit->z_milli < 0 ? "-" : "", MILLI(z));
}

static void print_steps(const char *what, u64 lookups, u64 steps, u64 expected_milli, bool expect,
			struct text *out)
{
	u64 each = ratio(steps, lookups, 1000);

	text_printf(out, " %s: %llu, iterations/%s: %llu.%03u", what, ULL(lookups), what,
		    MILLI(each));
	if (expect)
		text_printf(out, " (uniform hashing of this table: %llu.%03u)",
			    MILLI(expected_milli));
	text_printf(out, "\n");
}

static void print_ours(const struct hash_cache *cache, const struct hash_statistics *s,
		       struct text *out)
{
	bool expect = !cache->trees && s->objects && s->buckets > 1;

	text_printf(out, " hash function: %s, %d-bit words; structure: %s\n",
		    cache->trees ? "none" : cache->function, HASH_WORD_BITS, cache->structure);
	text_printf(out, " sizing rule: %s, %llu bytes\n", cache->rule, ULL(cache->bytes));
	if (cache->counters) {
		print_steps("hit", s->counted.hits, s->counted.hit_steps, s->expected_hit_milli,
			    expect, out);
		print_steps("miss", s->counted.misses, s->counted.miss_steps,
			    s->expected_miss_milli, expect, out);
		text_printf(out, " key compares: %llu, inserts: %llu, removes: %llu\n",
			    ULL(s->counted.compares), ULL(s->counted.inserts),
			    ULL(s->counted.removes));
	}
	if (!expect)
		return;
	text_printf(out, " largest bucket expected: %llu\n", ULL(s->expected_largest));
	print_fit("bucket sizes against uniform", &s->buckets_fit, out);
	print_fit("histogram against binomial", &s->histogram_fit, out);
	text_printf(out, " Dragon-book Q: %llu.%04u\n", ULL(s->dragon_q_tenthousandths / 10000),
		    (unsigned)(s->dragon_q_tenthousandths % 10000));
	text_printf(out, " expected histogram:\n  size  buckets    expected\n");
	for (unsigned row = 0; row < HASH_ROWS; row++)
		text_printf(out,
			    row < HASH_LAST_ROW ? "%6u%9llu%8llu.%03u\n"
						: "   >%u%9llu%8llu.%03u\n",
			    min(row, HASH_LAST_ROW - 1u), ULL(s->row_buckets[row]),
			    MILLI(s->row_expected_milli[row]));
}

void hash_report_text(struct hash_cache *cache, struct text *out)
{
	struct hash_statistics s;

	hash_collect(cache, &s);
	print_head(cache, &s, out);
	print_histogram(cache, &s, out);
	print_ours(cache, &s, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_number(struct text *out, const char *name, u64 value)
{
	text_printf(out, ",\"%s\":%llu", name, ULL(value));
}

static void json_milli(struct text *out, const char *name, u64 value)
{
	text_printf(out, ",\"%s\":%llu.%03u", name, MILLI(value));
}

static void json_fit(struct text *out, const char *name, const struct hash_fit *fit)
{
	u64 z = (u64)(fit->z_milli < 0 ? -fit->z_milli : fit->z_milli);

	text_printf(out,
		    ",\"%s\":{\"chi2\":%llu.%03u,\"degrees_of_freedom\":%llu,\"z\":%s%llu.%03u}",
		    name, MILLI(fit->chi2_milli), ULL(fit->freedom), fit->z_milli < 0 ? "-" : "",
		    MILLI(z));
}

static void json_row(struct text *out, const char *name, const u64 *row, bool milli)
{
	text_printf(out, "%c\"%s\":[", name[0] == 'b' ? '{' : ',', name);
	for (unsigned i = 0; i < HASH_ROWS; i++)
		text_printf(out, milli ? "%s%llu.%03u" : "%s%llu", i ? "," : "",
			    ULL(milli ? row[i] / 1000 : row[i]), (unsigned)(row[i] % 1000));
	text_printf(out, "]");
}

static void json_counted(const struct hash_statistics *s, struct text *out)
{
	static const char *const names[] = {"hits",	"misses",  "hit_steps", "miss_steps",
					    "compares", "inserts", "removes"};
	const struct hash_counters *c = &s->counted;

	json_number(out, "lookups", s->lookups);
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		json_number(out, names[i], ((const u64 *)c)[i]);
	json_milli(out, "hit_rate_percent", ratio(c->hits, s->lookups, 100000));
	json_milli(out, "steps_per_lookup", ratio(c->hit_steps + c->miss_steps, s->lookups, 1000));
	json_milli(out, "steps_per_hit", ratio(c->hit_steps, c->hits, 1000));
	json_milli(out, "steps_per_miss", ratio(c->miss_steps, c->misses, 1000));
}

void hash_report_json(struct hash_cache *cache, struct text *out)
{
	struct hash_statistics s;
	u64 q;

	hash_collect(cache, &s);
	q = s.dragon_q_tenthousandths;
	text_printf(
		out,
		"{\"cache\":\"%s\",\"function\":\"%s\",\"structure\":\"%s\",\"rule\":\"%s\",\"word\":%d",
		cache->name, cache->trees ? "none" : cache->function, cache->structure, cache->rule,
		HASH_WORD_BITS);
	json_number(out, cache->trees ? "trees" : "buckets", s.buckets);
	json_number(out, "bytes", cache->bytes);
	json_number(out, "objects", s.objects);
	json_number(out, "largest", s.largest);
	json_number(out, "empty", s.row_buckets[0]);
	if (cache->counters)
		json_counted(&s, out);
	text_printf(out, ",\"histogram\":");
	json_row(out, "buckets", s.row_buckets, false);
	json_row(out, "objects", s.row_objects, false);
	if (!cache->trees)
		json_row(out, "expected", s.row_expected_milli, true);
	text_printf(out, "}");
	if (!cache->trees) {
		json_milli(out, "expected_steps_per_hit", s.expected_hit_milli);
		json_milli(out, "expected_steps_per_miss", s.expected_miss_milli);
		json_number(out, "expected_largest", s.expected_largest);
		json_fit(out, "bucket_fit", &s.buckets_fit);
		json_fit(out, "histogram_fit", &s.histogram_fit);
		text_printf(out, ",\"dragon_q\":%llu.%04u", ULL(q / 10000), (unsigned)(q % 10000));
	}
	text_printf(out, "}");
}
