/*
 * cache.h - what a cache gives to and gets from hash/: a table's geometry, its counters, its
 * report.
 *
 * Each of the caches owns one `struct hash_cache`. Boot sizes it (hash_cache_create), the
 * cache hashes with its `bits`, and the statistics (hash/report.c) read its counters and walk its
 * buckets. The name hash has no table: it feeds the dentry hash.
 *
 * The plug-ins, selected at compile time by the generated header <generated/hash_choice.h>:
 *
 *   hash/page/NAME.h	 u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
 *   hash/buffer/NAME.h	 u32 buffer_hash(u32 device, u64 block, unsigned bits)
 *   hash/inode/NAME.h	 u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
 *   hash/dentry/NAME.h	 u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
 *   hash/swap/NAME.h	 u32 swap_hash(u32 type, u64 slot, unsigned bits)
 *   hash/path/NAME.h	 u32 path_hash(u64 index, u64 space, unsigned bits)
 *   hash/any/NAME.h	 u32 any_NAME(u64 sequential, u64 other, unsigned bits)
 *   hash/name/NAME.h	 u32 name_hash(uintptr_t salt, const char *name, size_t length)
 *   hash/table/NAME.h	 a structure; see hash/table/README.md and chained.h
 *
 * The swap cache has a table, and so a function, of its own only by choice (mm/swap/table.c); that
 * of whole paths is there with direct lookup (fs/path/direct/direct.h).
 * A function of hash/any/ serves each of these caches, whose own key it is given as two words.
 * All are `static inline` and return a value below 1 << bits (name_hash: any u32); bits is 1 to 31.
 * name_hash() may read up to 7 bytes past the name: callers keep names in buffers with that slack.
 *
 * hash/choose.py writes two headers from what is chosen. <generated/hash_choice.h>, for the headers
 * of the caches, has what objects embed - struct page_table_link, struct page_table_root and so on
 * - and PAGE_TABLE_HEADER, the structure to instantiate, and how many caches there are.
 * <generated/hash_functions.h>, which this file includes, has the functions above and their names
 * (CONFIG_PAGE_HASH "mult"), so that another function rebuilds only the files that include this
 * one.
 *
 * A cache's .c instantiates its structure (hash/table/README.md) with
 *
 *	#define TABLE dentry_table
 *	#define TABLE_OBJECT struct dentry
 *	#define TABLE_LINK hash_link
 *	#define TABLE_KEY struct dentry_key
 *	#include DENTRY_TABLE_HEADER
 */
#pragma once

#include <arch/cpu.h>
#include <generated/hash_choice.h>

#include "hash/word.h"

/* After the words they compute in and the keys some of them have. */
#include <generated/hash_functions.h>

/* A function that looks something up, from bucket to object: CACHE_LOOKUP_INLINE decides. */
#ifdef CONFIG_CACHE_LOOKUP_INLINE
#define CACHE_LOOKUP __always_inline
#else
#define CACHE_LOOKUP __attribute__((__noinline__, noclone, unused))
#endif

/* One CPU's counters of one cache. Exact definitions: docs/kernel/counters.md. */
struct hash_counters {
	u64 hits;	/* lookups that found their object */
	u64 misses;	/* lookups that did not */
	u64 hit_steps;	/* objects visited by the hits, the found one included */
	u64 miss_steps; /* objects visited by the misses */
	u64 compares;	/* full key comparisons (beyond the cheap first word) */
	u64 inserts;
	u64 removes;
} __aligned(64);
#define HASH_COUNTED 7 /* numbers in there */

/* A lookup that has @found an object, or NULL, after visiting @steps objects. */
static __always_inline void hash_count_find(struct hash_counters *counters, const void *found,
					    u64 steps)
{
	if (found) {
		counters->hits++;
		counters->hit_steps += steps;
	} else {
		counters->misses++;
		counters->miss_steps += steps;
	}
}

/* The numbers of the caches, in the order of reports; key streams know them by these. All that
 * there are lie below HASH_CACHES (generated): HASH_swap only where the swap cache has a table of
 * its own, HASH_path with direct lookup. */
enum hash_cache_number { HASH_page, HASH_buffer, HASH_inode, HASH_dentry, HASH_swap, HASH_path };

struct hash_cache {
	/* Set before boot by DEFINE_HASH_CACHE(). */
	enum hash_cache_number number;
	const char *title;     /* "Buffer": the report's first word */
	const char *objects;   /* "buffers" */
	const char *finder;    /* "find_buffer": the function the report names */
	const char *name;      /* "buffer": /proc/hash/NAME and the boot line's options */
	const char *function;  /* chosen hash function, CONFIG_BUFFER_HASH; of trees "none" */
	const char *structure; /* chosen table structure, CONFIG_BUFFER_TABLE */

	/* Set at boot by the structure's create. */
	void *table;
	/* Visit the size of each bucket (of each tree that has objects), locking as it needs; never
	 * sleeps. */
	void (*walk)(void *table, void (*visit)(u64 size, void *argument), void *argument);
	bool trees; /* no buckets: each owner has a tree, and walk() visits trees */

	/* Set at boot by hash_cache_create(). */
	unsigned bits;
	u64 entries; /* 1 << bits */
	u64 bytes;
	const char *rule; /* the sizing rule that gave this size */

	/* Per CPU, NR_CPUS of them; NULL without CONFIG_HASH_STATS. */
	struct hash_counters *counters;
};

/*
 * DEFINE_HASH_CACHE(page, PAGE, "Page", "pages", "find_page"): what a cache sets before boot. The
 * linker gathers the pointers to all that are defined (hash_caches), wherever that is: so the
 * reports know the caches, which stand above hash/, without naming them.
 */
#define DEFINE_HASH_CACHE(cache, CACHE, its_title, its_objects, its_finder)                        \
	struct hash_cache cache##_cache_hash = {                                                   \
		.number = HASH_##cache,                                                            \
		.title = (its_title),                                                              \
		.objects = (its_objects),                                                          \
		.finder = (its_finder),                                                            \
		.name = #cache,                                                                    \
		.function = CONFIG_##CACHE##_HASH,                                                 \
		.structure = CONFIG_##CACHE##_TABLE,                                               \
		.counters = HASH_COUNTERS(cache),                                                  \
	};                                                                                         \
	static struct hash_cache *const cache##_cache_entry                                        \
		__attribute__((used, section("hash_caches"))) = &cache##_cache_hash

extern struct hash_cache page_cache_hash, buffer_cache_hash, inode_cache_hash, dentry_cache_hash;

/* In debug builds: panic, naming the function, when @bucket lies outside the table. */
#ifdef CONFIG_DEBUG
void hash_check_bucket(const struct hash_cache *cache, u64 bucket);
#else
#define hash_check_bucket(cache, bucket) ((void)0)
#endif

#ifdef CONFIG_HASH_STATS
extern struct hash_counters page_counters[], buffer_counters[], inode_counters[], dentry_counters[];
/* HASH_COUNT(dentry, hits, 1): add to this CPU's counter. Interrupts may be on: counters are only
 * written by lookups in process context on this CPU, which are not preempted in kernel mode. */
#define HASH_COUNTERS(cache) cache##_counters
#define HASH_COUNT(cache, counter, n) (cache##_counters[cpu_id()].counter += (n))
/* This CPU's counters, or, where nothing is counted, @others. */
#define HASH_CPU_COUNTERS(cache, others) (&cache##_counters[cpu_id()])
/* The whole of a lookup, with @key_compares key compares; the rest as hash_count_find(). */
#define HASH_COUNT_FIND(cache, found, steps, key_compares)                                         \
	do {                                                                                       \
		struct hash_counters *_counters = &cache##_counters[cpu_id()];                     \
                                                                                                   \
		_counters->compares += (key_compares);                                             \
		hash_count_find(_counters, found, steps);                                          \
	} while (0)
#else
#define HASH_COUNTERS(cache) NULL
#define HASH_COUNT(cache, counter, n) ((void)0)
#define HASH_CPU_COUNTERS(cache, others) (others)
#define HASH_COUNT_FIND(cache, found, steps, key_compares) ((void)0)
#endif

/*
 * Key streams (docs/lab/key-streams.md): every operation as the cache saw it, written under the
 * lock of its bucket, so that all operations stand in an order in which they can have happened. A
 * look is a find that is not counted; the seed is that of the keyed functions; a report tells where
 * the counters stood that the cache sent at shutdown.
 */
enum hash_operation { HASH_FIND, HASH_INSERT, HASH_REMOVE, HASH_LOOK, HASH_SEED, HASH_REPORT };
#ifdef CONFIG_RECORD_KEYS
/* @object, NULL for a miss, is of the key (@first, @second), the hash function's. */
#define HASH_RECORD(cache, operation, object, first, second)                                       \
	hash_record(HASH_##cache, operation, object, (uintptr_t)(first), second, NULL, 0)
void hash_record(enum hash_cache_number cache, enum hash_operation operation, const void *object,
		 u64 first, u64 second, const char *name, u32 length);
/* Set memory aside, for record=SIZE on the command line: before the page allocator counts it. */
void hash_record_init(void);
#else
#define HASH_RECORD(cache, operation, object, first, second) ((void)0)
#define hash_record(...) ((void)0)
#define hash_record_init() ((void)0)
#endif

/*
 * Choose the size of @cache from the command line (NAMEhash_entries= or hash_sizing=, per-cache
 * NAMEhash_sizing=) and memory (the rules: size.c), allocate @entry_bytes an entry, zeroed, halving
 * until contiguous memory can be had, and print Linux's boot line. Sets bits, entries, bytes, rule.
 * Returns the table; panics only when not even one page can be had. Boot time, one CPU.
 */
void *hash_cache_create(struct hash_cache *cache, size_t entry_bytes);

/* Print the reports of all caches, in the layout of Lever's histograms, and of the locks on
 * the console (a write to /proc/hash/dump). Any context that may take spinlocks with interrupts
 * enabled. */
void hash_report_all(void);

/* Have hash_report_serve() do so soon (^T). Any context. */
void hash_report_request(void);

/* The work of a thread: do so whenever asked to, and every stats_period= seconds, if that is on the
 * command line. */
__noreturn void hash_report_serve(void);

/* At shutdown, for stats=@kind: "json" sends a `stats` record for each cache to the control port
 * (may sleep), "text" prints the reports; anything else gets a warning. */
void hash_report_shutdown(const char *kind);

/* Append one cache's report to @out (core/log/text.h), as text or as one JSON object.
 * docs/kernel/counters.md. Takes the table's locks one after the other; sleeps if writing to @out
 * does. */
struct text;
void hash_report_text(struct hash_cache *cache, struct text *out);
void hash_report_json(struct hash_cache *cache, struct text *out);
/* How many objects the table holds; debug builds panic unless they are those that came and did not
 * go. Takes its locks one after the other. */
u64 hash_cache_objects(struct hash_cache *cache);

/* The same for the locks that somebody had to wait for (docs/kernel/counters.md). Takes none. */
struct proc_entry; /* not looked at: as the files of /proc have it */
void lock_report_text(struct text *out, const struct proc_entry *unused);
