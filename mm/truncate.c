/*
 * truncate.c - pages leave the cache because their file shrinks, goes away, or is unmounted.
 * Declared in page_cache.h.
 *
 * Truncation races with readers and faults that add or map pages. The order that keeps it right:
 * the caller has set the new i_size; programs' mappings of the range are removed; the pages are
 * removed; mappings are removed again. Who adds a page looks at i_size after it is in the cache,
 * and who maps a page looks at page->mapping under the page-table lock; so neither can be missed
 * twice.
 */
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "mm/page_cache.h"

#define BATCH 16

/* Up to BATCH pages from index @first on, referenced; the others are moved behind. */
static unsigned gather_from(struct address_space *mapping, struct list_head *list, pgoff_t first,
			    struct page **pages)
{
	struct list_head *end, *link, *next;
	unsigned count = 0;

	spin_lock(&mapping->lock);
	end = list->prev;
	for (link = list->next; link != list && count < BATCH; link = next) {
		struct page *page = list_entry(link, struct page, mapping_link);

		next = link == end ? list : link->next;
		if (page->index >= first) {
			get_page(page);
			pages[count++] = page;
		}
		list_move_tail(link, list);
	}
	spin_unlock(&mapping->lock);
	return count;
}

static void drop_page(struct address_space *mapping, struct page *page)
{
	lock_page(page);
	if (page->mapping == mapping) {
		wait_on_page_writeback(page);
		if (mapping->ops->invalidate)
			mapping->ops->invalidate(page, 0);
		clear_bit(PG_dirty_all, &page->flags);
		remove_from_page_cache(page);
	}
	unlock_page(page);
	put_page(page);
}

static void drop_pages(struct address_space *mapping, pgoff_t first)
{
	struct page *pages[BATCH];
	unsigned count;

	while ((count = gather_from(mapping, &mapping->clean_pages, first, pages)) ||
	       (count = gather_from(mapping, &mapping->dirty_pages, first, pages))) {
		for (unsigned i = 0; i < count; i++)
			drop_page(mapping, pages[i]);
		cond_resched();
	}
}

/* The page in which the file now ends: what lies behind the end reads as zeros. */
static void truncate_partial(struct address_space *mapping, loff_t start)
{
	unsigned offset = (unsigned)(start & (loff_t)(PAGE_SIZE - 1));
	struct page *page;

	if (!offset)
		return;
	page = find_get_page(mapping, (pgoff_t)start >> PAGE_SHIFT);
	if (!page)
		return;
	lock_page(page);
	if (page->mapping == mapping) {
		wait_on_page_writeback(page);
		memset((char *)page_address(page) + offset, 0, PAGE_SIZE - offset);
		if (mapping->ops->invalidate)
			mapping->ops->invalidate(page, offset);
	}
	unlock_page(page);
	put_page(page);
}

void truncate_inode_pages(struct address_space *mapping, loff_t start)
{
	pgoff_t first = ((pgoff_t)start + PAGE_SIZE - 1) >> PAGE_SHIFT;

	if (!list_empty(&mapping->vmas))
		mm_unmap_file(mapping, first);
	if (!READ_ONCE(mapping->nr_pages))
		return;
	truncate_partial(mapping, start);
	drop_pages(mapping, first);
	if (!list_empty(&mapping->vmas))
		mm_unmap_file(mapping, first);
}

void invalidate_inode_pages(struct address_space *mapping)
{
	struct page *pages[BATCH];
	u64 left = mapping->nr_pages;
	unsigned count;

	while (left && (count = gather_from(mapping, &mapping->clean_pages, 0, pages))) {
		left -= min((u64)count, left);
		for (unsigned i = 0; i < count; i++) {
			struct page *page = pages[i];

			if (trylock_page(page)) {
				if (page->mapping == mapping &&
				    !(READ_ONCE(page->flags) &
				      (BIT(PG_dirty) | BIT(PG_writeback))) &&
				    (!page->buffers || mapping->ops->release(page)))
					remove_unused_page(page);
				unlock_page(page);
			}
			put_page(page);
		}
		cond_resched();
	}
}
