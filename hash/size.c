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
#include <arch/page.h>

#include "hash/cache.h"
#include "hash/memory.h"
#include "kernel/core/assert.h"
#include "kernel/core/bitops.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/printk.h"
#include "kernel/core/string.h"

#define LARGEST_TABLE (1ull << 31)
#define ADAPT_PAGES (GB(64) >> PAGE_SHIFT)

enum cache_index { PAGE, BUFFER, INODE, DENTRY };

struct request {
	enum cache_index cache;
	u64 pages;
	size_t entry_bytes;
};

static u64 entries_2_2_5(const struct request *r)
{
	static const u64 fixed[] = {[PAGE] = 2048, [INODE] = 256, [DENTRY] = 1024};

	return r->cache == BUFFER ? 32 * PAGE_SIZE / r->entry_bytes : fixed[r->cache];
}

/* As many entries as fit into @bytes, rounded up to a power-of-two number of pages. */
static u64 whole_pages(u64 bytes, const struct request *r)
{
	return roundup_pow_of_two(DIV_ROUND_UP(max(bytes, (u64)1), PAGE_SIZE)) * PAGE_SIZE /
	       r->entry_bytes;
}

static u64 entries_2_2_16(const struct request *r)
{
	return r->cache == PAGE ? whole_pages(r->pages * r->entry_bytes, r) : entries_2_2_5(r);
}

/* log2 of the bytes of memory for each entry. */
static const unsigned scales[] = {[PAGE] = 12, [BUFFER] = 14, [INODE] = 14, [DENTRY] = 13};

static u64 entries_2_4(const struct request *r)
{
	if (r->cache == BUFFER)
		return roundup_pow_of_two(max((r->pages >> 14) * r->entry_bytes, (u64)1)) *
		       PAGE_SIZE / r->entry_bytes;
	return whole_pages((r->pages >> (scales[r->cache] - PAGE_SHIFT)) * r->entry_bytes, r);
}

static u64 entries_scaled(const struct request *r, unsigned coarser)
{
	u64 pages = round_up(r->pages, MB(1) >> PAGE_SHIFT);
	u64 entries = roundup_pow_of_two(pages >> (scales[r->cache] + coarser - PAGE_SHIFT));

	return min(entries, max(r->pages * PAGE_SIZE / 16 / r->entry_bytes, (u64)2));
}

static u64 entries_2_6(const struct request *r)
{
	return entries_scaled(r, 0);
}

static u64 entries_6_1(const struct request *r)
{
	unsigned coarser = 0;

	for (u64 pages = ADAPT_PAGES; pages < r->pages; pages <<= 2)
		coarser++;
	return entries_scaled(r, coarser);
}

static const struct rule {
	const char *name;
	u64 (*entries)(const struct request *request);
} rules[] = {
	{"2.2.5", entries_2_2_5}, {"2.2.16", entries_2_2_16}, {"2.4", entries_2_4},
	{"2.6", entries_2_6},	  {"6.1", entries_6_1},
};

static const struct rule *find_rule(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(rules); i++)
		if (strcmp(rules[i].name, name) == 0)
			return &rules[i];
	return NULL;
}

/* The rule that option @name asks for; NULL: none, or a wrong one (said so). */
static const struct rule *asked_rule(const char *name)
{
	static const char *complained; /* once is enough for four caches */
	const char *value = cmdline_value(name);
	const struct rule *rule = value ? find_rule(value) : NULL;

	if (value && !rule && value != complained) {
		complained = value;
		pr_err("%s=%s: there is no such rule. There are:\n", name, value);
		for (unsigned i = 0; i < ARRAY_SIZE(rules); i++)
			pr_err("  %s\n", rules[i].name);
	}
	return rule;
}

static enum cache_index index_of(const struct hash_cache *cache)
{
	return cache->name[0] == 'p'   ? PAGE
	       : cache->name[0] == 'b' ? BUFFER
	       : cache->name[0] == 'i' ? INODE
				       : DENTRY;
}

/* What is wanted, a power of two from 2 to LARGEST_TABLE; sets cache->rule. */
static u64 wanted_entries(struct hash_cache *cache, size_t entry_bytes)
{
	struct request request = {index_of(cache), page_alloc_total_pages(), entry_bytes};
	const struct rule *rule;
	char option[16];
	u64 entries = 0;

	snprintf(option, sizeof(option), "%chash_entries", cache->name[0]);
	if (cmdline_u64(option, &entries) && entries) {
		cache->rule = "number";
	} else {
		snprintf(option, sizeof(option), "%chash_sizing", cache->name[0]);
		rule = asked_rule(option);
		rule = rule ?: asked_rule("hash_sizing");
		rule = rule ?: find_rule(CONFIG_HASH_SIZING);
		rule = rule ?: &rules[ARRAY_SIZE(rules) - 1];
		cache->rule = rule->name;
		/* A cap need not be a power of two: Linux rounds down. */
		entries = 1ull << ilog2(rule->entries(&request));
	}
	return max(roundup_pow_of_two(min(entries, LARGEST_TABLE)), (u64)2);
}

void *hash_cache_create(struct hash_cache *cache, size_t entry_bytes)
{
	u64 wanted = wanted_entries(cache, entry_bytes), entries = wanted;
	void *table;

	for (;; entries /= 2) {
		table = hash_alloc_table(entries * entry_bytes);
		if (table)
			break;
		if (entries * entry_bytes <= PAGE_SIZE || entries == 2)
			panic("no memory for the %s cache's hash table", cache->name);
	}
	if (entries != wanted)
		pr_warn("%s cache: no contiguous memory for %llu hash table entries\n",
			cache->title, (unsigned long long)wanted);
	cache->entries = entries;
	cache->bits = ilog2(entries);
	cache->bytes = entries * entry_bytes;
	pr_info("%s cache hash table entries: %llu (order: %d, %llu bytes)\n", cache->title,
		(unsigned long long)entries,
		cache->bytes > PAGE_SIZE ? ilog2(cache->bytes) - PAGE_SHIFT : 0,
		(unsigned long long)cache->bytes);
	return table;
}
