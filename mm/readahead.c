/*
 * readahead.c - reading pages before they are asked for. Declared in page_cache.h.
 *
 * State, in each open file: the window that was started last begins at readahead_next and has
 * readahead_size pages; size 0: no window, and a reader that goes on sequentially would miss
 * readahead_next. When a reader arrives at the first page of the window, the next one, twice as
 * large, is started: so one window is always on its way while the one before is being read. A miss
 * where a sequential reader would miss starts a window; any other miss reads what was asked for.
 *
 * Racing readers of one open file may mix up the state: then pages are read ahead that nobody
 * wants, or none.
 */
#include "fs/vfs.h"

#define WINDOW_MIN 4
#define WINDOW_MAX 32
#define NO_WINDOW (~(pgoff_t)0)

/* Start reading the pages of [start, start + count) that are in the file and not in the cache; how
 * many. */
static unsigned start_window(struct address_space *mapping, pgoff_t start, pgoff_t count)
{
	pgoff_t end = ((pgoff_t)READ_ONCE(mapping->host->size) + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct page *pages[WINDOW_MAX], *old = NULL;
	unsigned started = 0;

	end = min(end, start + count);
	for (pgoff_t index = start; index < end;) {
		unsigned n = 0;

		for (old = NULL; index < end && !old; index++) { /* they must be consecutive */
			pages[n] = alloc_page(GFP_KERNEL | GFP_NOIO | GFP_NOWARN);
			if (!pages[n])
				end = index;
			else if ((old = add_to_page_cache(pages[n], mapping, index)))
				put_page(pages[n]);
			else
				n++;
		}
		if (old)
			put_page(old);
		if (n)
			mapping->ops->readpages(mapping->host, pages, n);
		for (unsigned i = 0; i < n; i++)
			put_page(pages[i]);
		started += n;
	}
	return started;
}

/* Start reading for a reader who misses page @index, or meets file->readahead_next. Does not wait.
 */
static void readahead(struct file *file, struct address_space *mapping, pgoff_t index,
		      pgoff_t wanted)
{
	pgoff_t next = file->readahead_next, size = file->readahead_size;

	if (size && index == next) {
		/* The reader has entered the last window: start the one behind it. */
		next += size;
		size = min_t(pgoff_t, 2 * size, WINDOW_MAX);
	} else if (index == 0 || index == next + size) {
		size = max_t(pgoff_t, wanted, size ? size : WINDOW_MIN / 2);
		size = min_t(pgoff_t, 2 * size, WINDOW_MAX);
		next = index;
	} else {
		size = min_t(pgoff_t, wanted, WINDOW_MAX);
		start_window(mapping, index, size);
		file->readahead_next = index + size;
		file->readahead_size = 0;
		return;
	}
	if (!start_window(mapping, next, size))
		size = 0; /* all there already, or the end: say no more until a page is missing */
	file->readahead_next = size ? next : NO_WINDOW;
	file->readahead_size = size;
}

struct page *page_cache_get(struct file *file, struct address_space *mapping, pgoff_t index,
			    pgoff_t wanted, struct page *page)
{
	bool ahead = file->readahead_size && file->readahead_next - index < wanted;

	if (mapping->ops->writepage && (!page || ahead))
		readahead(file, mapping, page ? file->readahead_next : index, page ? 1 : wanted);
	else if (index == file->readahead_next)
		file->readahead_next = NO_WINDOW; /* nothing is missing: do not come here again */
	if (likely(page && page_uptodate(page)))
		return page;
	if (page)
		put_page(page);
	page = read_cache_page(mapping, index);
	if (IS_ERR(page) || (u64)READ_ONCE(mapping->host->size) > (u64)index << PAGE_SHIFT)
		return page;
	/* Truncation may have passed before the page was in the cache: then drop it. */
	lock_page(page);
	if (page->mapping == mapping && !atomic_read(&page->mapcount)) {
		if (mapping->ops->invalidate)
			mapping->ops->invalidate(page, 0);
		remove_from_page_cache(page, false);
	}
	unlock_page(page);
	put_page(page);
	return NULL;
}
