/*
 * cache.h - what a cache gives to and gets from hash/: a table's geometry, its counters, its report.
 *
 * Each of the four caches owns one `struct hash_cache`. Boot sizes it (hash_cache_create), the cache
 * hashes with its `bits`, and the statistics (hash/stats.c) read its counters and walk its buckets.
 * The name hash has no table: it feeds the dentry hash.
 *
 * The plug-ins, selected at compile time by the generated header <generated/hash_choice.h>:
 *
 *   hash/page/NAME.h	 u32 page_hash(uintptr_t inode, u64 byte_offset, unsigned bits)
 *   hash/buffer/NAME.h	 u32 buffer_hash(u32 device, u64 block, unsigned bits)
 *   hash/inode/NAME.h	 u32 inode_hash(uintptr_t superblock, u64 number, unsigned bits)
 *   hash/dentry/NAME.h	 u32 dentry_hash(uintptr_t parent, u32 name_hash, unsigned bits)
 *   hash/name/NAME.h	 u32 name_hash(uintptr_t salt, const char *name, size_t length)
 *   hash/table/NAME.h	 a structure; see hash/table/README.md and chained.h
 *
 * All are `static inline` and return a value below 1 << bits (name_hash: any u32). name_hash() may read
 * up to 7 bytes past the name: callers keep names in buffers with that slack.
 * hash_choice.h includes the chosen function and structure of each cache and defines the aliases
 * `page_table`, `buffer_table`, `inode_table`, `dentry_table`, each with the operations of chained.h:
 * struct page_table, struct page_table_link, page_table_find() and so on.
 */
#ifndef HASH_CACHE_H
#define HASH_CACHE_H

#include <arch/cpu.h>

#include "kernel/core/types.h"

#ifdef CONFIG_HASH_WORD_32
typedef u32 hash_word;
#define HASH_WORD_BITS 32
#else
typedef u64 hash_word;
#define HASH_WORD_BITS 64
#endif

/* The lowest set bit of the distance between inodes in memory: what the 2.2 page hash divides by, since the
 * bits below it are constant. Inodes are slab objects aligned to a cache line. */
#define PAGE_HASH_INODE_ALIGN 64

/* One CPU's counters of one cache. Exact definitions: docs/counters.md. */
struct hash_counters {
	u64 hits;	   /* lookups that found their object */
	u64 misses;	   /* lookups that did not */
	u64 hit_steps;	   /* objects visited by the hits, the found one included */
	u64 miss_steps;	   /* objects visited by the misses */
	u64 compares;	   /* full key comparisons (beyond the cheap first word) */
	u64 inserts;
	u64 removes;
} __aligned(64);

struct hash_cache {
	/* Set before boot by the cache. */
	const char *title;     /* "Buffer": the report's first word */
	const char *object;    /* "buffer": printed with -s */
	const char *finder;    /* "find_buffer": the function the report names */
	const char *name;      /* "buffer": /proc/hash/NAME and the boot line's options */
	const char *function;  /* chosen hash function, CONFIG_BUFFER_HASH */
	const char *structure; /* chosen table structure, CONFIG_BUFFER_TABLE */

	/*
	 * Count the objects of bucket @bucket, taking whatever lock the table needs. For a structure
	 * without buckets (the red-black tree) each root is a "bucket". Never sleeps.
	 */
	u64 (*bucket_size)(u64 bucket);
	u64 (*bucket_count)(void); /* NULL: 1 << bits */

	/* Set at boot by hash_cache_size(). */
	unsigned bits;
	u64 entries;	  /* 1 << bits */
	u64 bytes;
	const char *rule; /* the sizing rule that gave this size */

	/* Hot, per CPU. */
	struct hash_counters *counters; /* NR_CPUS of them */
};

extern struct hash_cache page_cache_hash, buffer_cache_hash, inode_cache_hash, dentry_cache_hash;

#ifdef CONFIG_HASH_STATS
extern struct hash_counters page_counters[], buffer_counters[], inode_counters[], dentry_counters[];
/* HASH_COUNT(dentry, hits, 1): add to this CPU's counter. Interrupts may be on: counters are only
 * written by lookups in process context on this CPU, which are not preempted in kernel mode. */
#define HASH_COUNT(cache, counter, n) (cache##_counters[cpu_id()].counter += (n))
#define HASH_STATS_ONLY(...) __VA_ARGS__
#else
#define HASH_COUNT(cache, counter, n) ((void)0)
#define HASH_STATS_ONLY(...)
#endif

/*
 * Choose the size of @cache from the command line (NAMEhash_entries= or hash_sizing=, per-cache
 * NAMEhash_sizing=) and memory, allocate @entry_bytes an entry, zeroed, halving until contiguous memory
 * can be had, and print Linux's boot line. Sets bits, entries, bytes, rule. Returns the table; panics
 * only when not even one page can be had. Boot time, one CPU.
 */
void *hash_cache_create(struct hash_cache *cache, size_t entry_bytes);

/* Print the report of all four caches in the layout of Lever's histograms on the console (^T, a write
 * to /proc/hash/dump, shutdown). Any context that may take spinlocks with interrupts enabled. */
void hash_report_all(void);

/* Format one cache's report as text or as JSON into a growing buffer (struct text, hash/text.h). */
struct text;
void hash_report_text(struct hash_cache *cache, struct text *out);
void hash_report_json(struct hash_cache *cache, struct text *out);

#endif /* HASH_CACHE_H */
