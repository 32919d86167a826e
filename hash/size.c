/*
 * size.c - how many buckets a table gets: by number, or by the rule of a Linux kernel from the
 * memory there is.
 *
 *	hash_sizing=RULE	all four caches; phash_, bhash_, ihash_ or dhash_sizing=: one
 *	phash_entries=N		a number for one cache, rounded up to a power of two; goes before
 *				any rule; and so on
 *
 * The rules, with pages the frames of memory. Rules say nothing of a table that their kernel did
 * not have: 2.6 and 6.1 keep pages in trees and have no buffer hash, so theirs are those of 2.4 in
 * 2.6's manner.
 *
 *	rule	page		buffer			inode		dentry
 *	2.2.5	2048		32 pages of pointers	256		1024
 *	2.2.16	one a page	as 2.2.5		as 2.2.5	as 2.2.5
 *	2.4	one a page	2^k >= (pages >> 14)	one per 16 KB	one per 8 KB
 *				pointers, in pages
 *	2.6	one a page	one per 16 KB		one per 16 KB	one per 8 KB;
 *				each at most 1/16 of memory
 *	6.1	as 2.6, but one step coarser for each factor of 4 above 64 GB
 *
 * Sources: Lever 1999, section 3, and 2000, section 3.1; the start-up code of the kernels.
 */
#include "hash/cache.h"
#include "core/kernel.h"
#include "core/memory/slab.h"

#define LARGEST_TABLE (1ull << 31)

static const char *const rules[] = {"2.2.5", "2.2.16", "2.4", "2.6", "6.1"};
enum rule { R_2_2_5, R_2_2_16, R_2_4, R_2_6, R_6_1, RULES };

/* At least @entries, rounded up to a power-of-two number of pages. */
static u64 whole_pages(u64 entries, size_t entry_bytes)
{
	return roundup_pow_of_two(DIV_ROUND_UP(max(entries, 1ull) * entry_bytes, PAGE_SIZE)) *
	       PAGE_SIZE / entry_bytes;
}

/* Of the table of the cache whose name begins with @cache. */
static u64 entries_by(enum rule rule, char cache, size_t entry_bytes)
{
	u64 pages = page_alloc_total_pages();
	bool page = cache == 'p', buffer = cache == 'b', dentry = cache == 'd';
	unsigned scale = page ? 0 : dentry ? 1 : 2; /* log2 of the frames for each entry */

	if (rule < R_2_2_16 || (rule == R_2_2_16 && !page))
		return page ? 2048 : dentry ? 1024 : buffer ? 32 * PAGE_SIZE / entry_bytes : 256;
	if (rule <= R_2_4)
		return whole_pages(buffer ? (pages >> 14) * PAGE_SIZE : pages >> scale,
				   entry_bytes);
	for (u64 above = GB(64) >> PAGE_SHIFT; rule == R_6_1 && above < pages; above <<= 2)
		scale++;
	return min(roundup_pow_of_two(round_up(pages, MB(1) >> PAGE_SHIFT) >> scale),
		   max(pages * PAGE_SIZE / 16 / entry_bytes, 2ull));
}

/* The number of the rule that @value names, which @option has; @otherwise: there is none. */
static enum rule find_rule(const char *option, const char *value, enum rule otherwise)
{
	static const char *complained; /* once is enough for four caches */

	for (enum rule rule = 0; value && rule < RULES; rule++)
		if (strcmp(rules[rule], value) == 0)
			return rule;
	if (value && value != complained) {
		complained = value;
		pr_err("%s=%s: there is no such rule. There are %s, %s, %s, %s and %s.\n", option,
		       value, rules[0], rules[1], rules[2], rules[3], rules[4]);
	}
	return otherwise;
}

/* What is wanted, a power of two from 2 to LARGEST_TABLE; sets cache->rule. */
static u64 wanted_entries(struct hash_cache *cache, size_t entry_bytes)
{
	char number[] = "?hash_entries", sizing[] = "?hash_sizing";
	u64 entries = 0;

	number[0] = sizing[0] = cache->name[0];
	if (cmdline_u64(number, &entries) && entries) {
		cache->rule = "number";
	} else {
		enum rule rule = find_rule("HASH_SIZING", CONFIG_HASH_SIZING, R_6_1);

		rule = find_rule("hash_sizing", cmdline_value("hash_sizing"), rule);
		rule = find_rule(sizing, cmdline_value(sizing), rule);
		cache->rule = rules[rule];
		/* A cap need not be a power of two: Linux rounds down. */
		entries = 1ull << ilog2(entries_by(rule, cache->name[0], entry_bytes));
	}
	return max(roundup_pow_of_two(min(entries, LARGEST_TABLE)), 2ull);
}

void *hash_cache_create(struct hash_cache *cache, size_t entry_bytes)
{
	u64 wanted = wanted_entries(cache, entry_bytes), entries = wanted;
	void *table;

	for (; !(table = hash_alloc_table(entries * entry_bytes)); entries /= 2)
		if (entries * entry_bytes <= PAGE_SIZE || entries == 2)
			panic("no memory for the %s cache's hash table", cache->name);
	if (entries != wanted)
		pr_warn("%s cache: no contiguous memory for %llu hash table entries\n",
			cache->title, wanted);
	cache->entries = entries;
	cache->bits = ilog2(entries);
	cache->bytes = entries * entry_bytes;
	pr_info("%s cache hash table entries: %llu (order: %d, %llu bytes)\n", cache->title,
		entries, cache->bytes > PAGE_SIZE ? ilog2(cache->bytes) - PAGE_SHIFT : 0,
		cache->bytes);
	return table;
}
