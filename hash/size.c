/*
 * size.c - how many buckets a table gets: by number, or by the rule of a Linux kernel from the
 * memory there is.
 *
 *	hash_sizing=RULE	all caches; phash_, bhash_, ihash_, dhash_ or shash_sizing=: one
 *	phash_entries=N		a number for one cache, rounded up to a power of two; goes before
 *				any rule; and so on
 *
 * The rules, with pages the frames of memory. Rules say nothing of a table that their kernel did
 * not have: 2.6 and 6.1 keep pages in trees and have no buffer hash, so theirs are those of 2.4 in
 * 2.6's manner. A table of the swap cache's own (mm/swap/table.c) no kernel had: its pages are the
 * page cache's in Linux 2.2 and 2.4, and the rules are that cache's. That of whole paths, of direct
 * lookup, goes by the dentry cache's: dlhash_entries=N.
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
#include "core/kernel.h"
#include "core/memory/page_alloc.h"
#include "hash/cache.h"

#define LARGEST_TABLE (1ull << 31)

static const char *const rules[] = {"2.2.5", "2.2.16", "2.4", "2.6", "6.1"};
enum rule { R_2_2_5, R_2_2_16, R_2_4, R_2_6, R_6_1, RULES };

/* What the rules have for one cache. Another cache with a table is a line more in cache_sizes[]. */
struct cache_sizes {
	const char *cache;	  /* hash_cache.name */
	const char *option;	  /* what its options on the command line begin with */
	u64 entries_2_2;	  /* by 2.2.5: so many, ... */
	unsigned pages_2_2;	  /* ... or so many pages of them */
	bool follows_memory_2_2;  /* but by 2.2.16 as by 2.4 */
	unsigned frames_shift;	  /* by the later ones: one for 1 << frames_shift frames */
	unsigned multiple_of_2_4; /* by 2.4, of the frames that are a multiple of so many */
};

static const struct cache_sizes cache_sizes[] = {
	/* cache, option, entries_2_2, pages_2_2, follows_memory, frames_shift, multiple_of_2_4 */
	{"page", "phash", 2048, 0, true, 0, 1},
	{"buffer", "bhash", 0, 32, false, 2, 1 << 14},
	{"inode", "ihash", 256, 0, false, 2, 1},
	{"dentry", "dhash", 1024, 0, false, 1, 1},
#ifdef CONFIG_SWAP_TABLE_OWN
	{"swap", "shash", 2048, 0, true, 0, 1},
#endif
#ifdef CONFIG_DCACHE_FASTPATH
	{"path", "dlhash", 1024, 0, false, 1, 1},
#endif
};

static const struct cache_sizes *sizes_of(const struct hash_cache *cache)
{
	for (unsigned i = 0; i < ARRAY_SIZE(cache_sizes); i++)
		if (strcmp(cache_sizes[i].cache, cache->name) == 0)
			return &cache_sizes[i];
	panic("hash/size.c has no sizes for the %s cache", cache->name);
}

static u64 entries_2_2(const struct cache_sizes *sizes, size_t entry_bytes)
{
	if (sizes->pages_2_2)
		return sizes->pages_2_2 * PAGE_SIZE / entry_bytes;
	return sizes->entries_2_2;
}

/* At least so many, rounded up to a power-of-two number of pages. */
static u64 entries_2_4(const struct cache_sizes *sizes, u64 frames, size_t entry_bytes)
{
	u64 entries = round_down(frames, (u64)sizes->multiple_of_2_4) >> sizes->frames_shift;
	u64 pages = DIV_ROUND_UP(max(entries, 1ull) * entry_bytes, PAGE_SIZE);

	return roundup_pow_of_two(pages) * PAGE_SIZE / entry_bytes;
}

/* @coarser: so many powers of two fewer. */
static u64 entries_2_6(const struct cache_sizes *sizes, u64 frames, size_t entry_bytes,
		       unsigned coarser)
{
	u64 whole_megabytes = round_up(frames, MB(1) >> PAGE_SHIFT);
	u64 most = frames * PAGE_SIZE / 16 / entry_bytes;

	return min(roundup_pow_of_two(whole_megabytes >> (sizes->frames_shift + coarser)),
		   max(most, 2ull));
}

/* Powers of 4 that memory has above 64 GB. */
static unsigned coarser_6_1(u64 frames)
{
	unsigned steps = 0;

	for (u64 above = GB(64) >> PAGE_SHIFT; above < frames; above <<= 2)
		steps++;
	return steps;
}

static u64 entries_by(enum rule rule, const struct cache_sizes *sizes, size_t entry_bytes)
{
	u64 frames = page_alloc_total_pages();

	switch (rule) {
	case R_2_2_5:
		return entries_2_2(sizes, entry_bytes);
	case R_2_2_16:
		if (!sizes->follows_memory_2_2)
			return entries_2_2(sizes, entry_bytes);
		return entries_2_4(sizes, frames, entry_bytes);
	case R_2_4:
		return entries_2_4(sizes, frames, entry_bytes);
	case R_2_6:
		return entries_2_6(sizes, frames, entry_bytes, 0);
	default:
		return entries_2_6(sizes, frames, entry_bytes, coarser_6_1(frames));
	}
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
	const struct cache_sizes *sizes = sizes_of(cache);
	char number[32], sizing[32];
	u64 entries = 0;

	scnprintf(number, sizeof(number), "%s_entries", sizes->option);
	scnprintf(sizing, sizeof(sizing), "%s_sizing", sizes->option);
	if (cmdline_u64(number, &entries) && entries) {
		cache->rule = "number";
	} else {
		enum rule rule = find_rule("HASH_SIZING", CONFIG_HASH_SIZING, R_6_1);

		rule = find_rule("hash_sizing", cmdline_value("hash_sizing"), rule);
		rule = find_rule(sizing, cmdline_value(sizing), rule);
		cache->rule = rules[rule];
		/* A cap need not be a power of two: Linux rounds down. */
		entries = 1ull << ilog2(entries_by(rule, sizes, entry_bytes));
	}
	return max(roundup_pow_of_two(min(entries, LARGEST_TABLE)), 2ull);
}

/* log2 of the pages that @bytes take, as Linux prints it. */
static int order_of(u64 bytes)
{
	if (bytes <= PAGE_SIZE)
		return 0;
	return ilog2(bytes) - PAGE_SHIFT;
}

void *hash_cache_create(struct hash_cache *cache, size_t entry_bytes)
{
	u64 wanted = wanted_entries(cache, entry_bytes), entries = wanted;
	void *table = hash_alloc_table(entries * entry_bytes);

	while (!table) {
		if (entries * entry_bytes <= PAGE_SIZE || entries == 2)
			panic("no memory for the %s cache's hash table", cache->name);
		entries /= 2;
		table = hash_alloc_table(entries * entry_bytes);
	}
	if (entries != wanted)
		pr_warn("%s cache: no contiguous memory for %llu hash table entries\n",
			cache->title, wanted);
	cache->entries = entries;
	cache->bits = ilog2(entries);
	cache->bytes = entries * entry_bytes;
	pr_info("%s cache hash table entries: %llu (order: %d, %llu bytes)\n", cache->title,
		entries, order_of(cache->bytes), cache->bytes);
	return table;
}
