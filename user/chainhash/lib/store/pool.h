/*
 * pool.h - pages in memory.
 *
 * A table in memory has all its pages here, for good. Of one in a file as many stay as the cache's
 * size allows; for another one the page that was not used for the longest time gives way, and is
 * written first if it was changed. Pages that the operation at hand has used stay in any case, so
 * that its pointers hold: a chain longer than the pool makes the pool larger for a while.
 *
 * The list is in the order of use, as far as use was noticed: a page that is used only gets the
 * operation's number, and comes to the head of the list when it would have to give way.
 */
#pragma once

#include "table.h"

/* Room for logical pages below @count: -ENOMEM. */
int pages_reserve(struct chainhash *t, u64 count);

/* Of page_get() below: the page is not in memory, or not yet looked for in the mapped file. */
u8 *page_read(struct chainhash *t, u64 logical, int *error);

/* The page to look at. One that was never written to is a shared page of zero bytes. */
static inline u8 *page_get(struct chainhash *t, u64 logical, int *error)
{
	u8 *page = NULL;

	if (likely(logical < t->page_count))
		page = __atomic_load_n(&t->pages[logical], __ATOMIC_RELAXED);
	if (unlikely(!page))
		return page_read(t, logical, error);
	if (t->kind == IN_POOL)
		frame_of(page)->used = t->operation;
	return page;
}

/* Of page_change() below: the page is not in memory. */
u8 *page_make(struct chainhash *t, u64 logical, int *error);

/* The page to write to: it counts as changed from now on. */
static inline u8 *page_change(struct chainhash *t, u64 logical, int *error)
{
	u8 *page = likely(logical < t->page_count) ? t->pages[logical] : NULL;

	if (unlikely(!page))
		return page_make(t, logical, error);
	if (t->kind == IN_POOL) {
		frame_of(page)->used = t->operation;
		bit_set(&t->pool.changed, logical);
	}
	return page;
}

/* The page's contents are of no use any more: it is all zero bytes when it is used next. */
void page_drop(struct chainhash *t, u64 logical);

/* No page is in memory, or is any more; no pointer to one holds. */
void pool_reset(struct chainhash *t);

void pool_free(struct chainhash *t);
