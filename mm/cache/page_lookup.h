/*
 * page_lookup.h - the page hash table as lookup sees it: for page_cache.c, fault.c, and file
 * systems' reading and writing (fs/regular/file_io.c), who inline it.
 *
 * The key of a page is (mapping, index); the hash function's is the inode's address and the byte
 * offset.
 */
#pragma once

#include "core/lock/seqcount.h"
#include "hash/cache.h"
#include "mm/cache/page_cache.h"
#include "mm/space/swap_hooks.h"

struct page_key {
	struct address_space *mapping;
	pgoff_t index;
	u64 *compares; /* full compares are added here */
};

#define TABLE page_table
#define TABLE_OBJECT struct page
#define TABLE_LINK links.page
#define TABLE_KEY struct page_key
#define TABLE_LOCK_HEADER PAGE_LOCK_HEADER
#define TABLE_ORDER(page) ((page)->index)
#include PAGE_TABLE_HEADER

extern struct page_table page_table_instance;

/* 0: the page that is looked for. The sign orders the pages of one file in a tree. */
static __always_inline int page_compare(const struct page *page, const struct page_key *key)
{
	if (page->index != key->index)
		return page->index < key->index ? -1 : 1;
	++*key->compares;
	return page->mapping != key->mapping;
}

/* The byte offset as the hash function's key has it. */
static __always_inline u64 page_key_offset(const struct address_space *mapping, pgoff_t index)
{
#ifdef CONFIG_SWAP
	if (is_swap_in_page_table(mapping))
		return index; /* a swap entry, as in Linux 2.2 */
#endif
	return (u64)index << PAGE_SHIFT;
}

static __always_inline u32 page_bucket(const struct address_space *mapping, pgoff_t index)
{
	if (index >> (64 - PAGE_SHIFT))
		/* an index is a byte offset in pages: saves the hash a mask */
		__builtin_unreachable();
	return page_hash((uintptr_t)mapping->host, page_key_offset(mapping, index),
			 page_cache_hash.bits);
}

/* The page with a reference, or NULL; counted. Between page_table_lock(), or _lock_to_read(), and
 * its end. */
static __always_inline struct page *page_find(struct address_space *mapping, u32 bucket,
					      pgoff_t index)
{
	u64 steps = 0, compares = 0;
	const struct page_key key = {mapping, index, &compares};
	struct page *page = page_table_find(&page_table_instance, &mapping->pages, bucket, &key,
					    page_compare, &steps);

	HASH_COUNT_FIND(page, page, steps, compares);
	HASH_RECORD(page, HASH_FIND, page, mapping->host, page_key_offset(mapping, index));
	if (page)
		get_page(page);
	return page;
}

static __always_inline struct page *page_find_locked(struct address_space *mapping, u32 bucket,
						     pgoff_t index)
{
	page_table_lock_to_read(&page_table_instance, &mapping->pages, bucket);
	struct page *page = page_find(mapping, bucket, index);

	page_table_unlock_read(&page_table_instance, &mapping->pages, bucket);
	return page;
}

#ifdef CONFIG_PAGE_LOCK_SEQUENCE
#include "hash/lock/sequence_find.h"

/* Look with the lock, and let go of @other, which is NULL or was not what is looked for. */
struct page *page_lookup_again(struct address_space *mapping, pgoff_t index, struct page *other);

/* As page_compare(), of a frame that was in a chain once, and may be anything by now. */
static __always_inline int page_compare_changing(const struct page *page,
						 const struct page_key *key)
{
	if (data_race(page->index) != key->index)
		return 1;
	++*key->compares;
	return data_race(page->mapping) != key->mapping;
}

/* A frame without references is free, or about to be. */
static __always_inline bool page_take(struct page *page)
{
	return atomic_inc_not_zero(&page->refcount);
}

/* As page_find_locked(), without the lock if nothing changes meanwhile. */
static __always_inline struct page *page_find_unlocked(struct address_space *mapping, u32 bucket,
						       pgoff_t index)
{
#ifdef CONFIG_RECORD_KEYS /* in the order in which buckets are locked */
	return page_find_locked(mapping, bucket, index);
#endif
	u64 steps = 0, compares = 0;
	const struct page_key key = {mapping, index, &compares};
	struct page *page;

	if (unlikely(!page_table_find_unlocked(&page_table_instance, &mapping->pages, bucket, &key,
					       page_compare_changing, page_take, &steps, &page)))
		return page_lookup_again(mapping, index, page);
	HASH_COUNT_FIND(page, page, steps, compares);
	return page;
}
#else
#define page_find_unlocked page_find_locked
#endif

/* The page at @index with a reference, or NULL. Counted as a lookup. Does not sleep. */
static CACHE_LOOKUP struct page *page_lookup(struct address_space *mapping, pgoff_t index)
{
	REGION_MARK(HASH_page, 0);
	u32 bucket = page_bucket(mapping, index);
	struct page *page = page_find_unlocked(mapping, bucket, index);

	REGION_MARK(HASH_page, 1);
	if (page && !test_bit(PG_referenced, &page->flags))
		set_bit(PG_referenced, &page->flags);
	return page;
}
