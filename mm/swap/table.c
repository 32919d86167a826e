/*
 * table.c - where the pages of the swap cache are found: in the page cache's table, by their entry
 * under swap_space; or, with another SWAP_TABLE, in a table of their own by area and slot, with a
 * hash function that serves them alone (hash/swap). Declared in swap.h and swap_hooks.h.
 *
 * With its own table the page cache's lookups know nothing of swap. Only what takes a page out asks
 * whose it is (swap_unhash()), since reclaim comes to pages of both.
 */
#include "mm/swap/swap.h"

#ifdef CONFIG_SWAP_TABLE_OWN

#include "hash/cache.h"

struct swap_key {
	u64 entry;
	u64 *compares; /* full compares are added here */
};

#define TABLE swap_table
#define TABLE_OBJECT struct page
#define TABLE_LINK links.swap
#define TABLE_KEY struct swap_key
#define TABLE_LOCK_HEADER SWAP_LOCK_HEADER
#define TABLE_ORDER(page) ((page)->index)
#include SWAP_TABLE_HEADER

static struct swap_table table;
static struct swap_table_root root;
#ifdef CONFIG_HASH_STATS
static struct hash_counters swap_counters[NR_CPUS];
#endif

DEFINE_HASH_CACHE(swap, SWAP, "Swap", "pages", "find_swap_page");

void swap_cache_table_init(void)
{
	swap_table_root_init(&root);
	swap_table_create(&table, &swap_cache_hash);
}

/* 0: the page that is looked for. The sign orders them in a tree. */
static __always_inline int compare(const struct page *page, const struct swap_key *key)
{
	if (page->index != key->entry)
		return page->index < key->entry ? -1 : 1;
	++*key->compares;
	return 0;
}

static inline u32 bucket_of(u64 entry)
{
	return swap_hash(swap_type(entry), swap_slot(entry), swap_cache_hash.bits);
}

static inline void lock_bucket(u32 bucket)
{
	swap_table_lock(&table, &root, bucket);
}

static inline void unlock_bucket(u32 bucket)
{
	swap_table_unlock(&table, &root, bucket);
}

static inline struct page *find(u32 bucket, u64 entry)
{
	u64 steps = 0, compares = 0;
	const struct swap_key key = {entry, &compares};
	struct page *page = swap_table_find(&table, &root, bucket, &key, compare, &steps);

	SWAP_COUNT_FIND(page, entry, steps, compares);
	if (page)
		get_page(page);
	return page;
}

static inline void insert(u32 bucket, struct page *page)
{
	swap_table_insert(&table, &root, bucket, page);
	SWAP_COUNT(inserts, HASH_INSERT, page);
}

bool swap_unhash(struct page *page, enum unhashed when)
{
	u32 bucket = bucket_of(page->index);

	assert_page_locked(page);
	lock_bucket(bucket);
	bool used = when == UNHASH_UNUSED && atomic_read(&page->refcount) != 2;
	if (!used) {
		swap_table_remove(&table, &root, bucket, page);
		SWAP_COUNT(removes, HASH_REMOVE, page);
	}
	unlock_bucket(bucket);
	return !used;
}

struct page *swap_cache_find(u64 entry)
{
	u32 bucket = bucket_of(entry);

	lock_bucket(bucket);
	struct page *page = find(bucket, entry);
	unlock_bucket(bucket);
	if (page && !test_bit(PG_referenced, &page->flags))
		set_bit(PG_referenced, &page->flags);
	return page;
}

#else

#include "mm/cache/page_lookup.h"

void swap_cache_table_init(void)
{
	/* page_cache_init() has made the table */
}

static inline u32 bucket_of(u64 entry)
{
	return page_bucket(&swap_space, entry);
}

static inline void lock_bucket(u32 bucket)
{
	page_table_lock(&page_table_instance, &swap_space.pages, bucket);
}

static inline void unlock_bucket(u32 bucket)
{
	page_table_unlock(&page_table_instance, &swap_space.pages, bucket);
}

static inline struct page *find(u32 bucket, u64 entry)
{
	return page_find(&swap_space, bucket, entry);
}

static inline void insert(u32 bucket, struct page *page)
{
	page_table_insert(&page_table_instance, &swap_space.pages, bucket, page);
	HASH_COUNT(page, inserts, 1);
	HASH_RECORD(page, HASH_INSERT, page, swap_space.host, page->index);
}

struct page *swap_cache_find(u64 entry)
{
	return page_lookup(&swap_space, entry);
}

#endif

struct page *swap_cache_enter(struct page *page, u64 entry)
{
	u32 bucket = bucket_of(entry);

	assert_page_locked(page);
	lock_bucket(bucket);
	struct page *old = find(bucket, entry);
	if (!old) {
		page->mapping = &swap_space;
		page->index = entry;
		page->buffers = NULL;
		get_page(page);
		/* it is locked already, and may have waiters: no store of all flags here */
		set_bit_release(PG_cache, &page->flags);
		insert(bucket, page);
	}
	unlock_bucket(bucket);
	return old;
}
