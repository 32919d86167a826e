/*
 * cache.c - the swap cache: anonymous pages under swap_space, by their swap entries, in the page
 * cache's table or in one of its own (table.c). Declared in swap.h.
 *
 * What the page cache does with pages it does with these: they are found, waited for and dropped by
 * the same functions, and a clean one that nobody maps goes when reclaim's hand comes by.
 */
#include "core/sched/sched.h"
#include "mm/swap/swap.h"

#define SPARE_SHARE 64 /* read around only while one frame in so many is free */

/* Its owner, as the hash function's key: an address, and nothing behind it but itself. */
static char swap_inode[64] __aligned(64);

static void page_dirtied(struct inode *inode)
{
	/* out.c goes through swap_space.dirty_pages by itself */
}

static int writepage(struct inode *inode, struct page *page)
{
	panic("swap has no file to sync");
}

/* With a writepage: clean and dirty pages are told apart by their lists. */
static const struct address_space_operations operations = {
	.writepage = writepage,
	.page_dirtied = page_dirtied,
};

struct address_space swap_space;

void swap_cache_init(void)
{
	address_space_init(&swap_space, (struct inode *)swap_inode, &operations);
	swap_cache_table_init();
}

u64 swap_cached_pages(void)
{
	return READ_ONCE(swap_space.nr_pages);
}

struct page *swap_cache_add(struct page *page, u64 entry)
{
	struct page *old = swap_cache_enter(page, entry);

	if (old)
		return old;
	spin_lock(&swap_space.lock);
	list_add_tail(&page->mapping_link, &swap_space.clean_pages);
	swap_space.nr_pages++;
	spin_unlock(&swap_space.lock);
	memory_use_add(MEMORY_CACHED, 1);
	return NULL;
}

void swap_cache_forget(u64 entry, enum swap_patience patience)
{
	struct page *page = swap_cache_find(entry);

	if (!page)
		return;
	if (patience == SWAP_WAIT)
		lock_page(page);
	else if (!trylock_page(page))
		goto out;
	if (page->mapping == &swap_space && page->index == entry && swap_count(entry) == 1)
		remove_from_page_cache(page);
	unlock_page(page);
out:
	put_page(page);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* @entry's page, new, locked and to be read, with a reference; *@there: found instead, uptodate or
 * to be waited for. NULL and no *@there: nobody wants it; ERR_PTR(-ENOMEM). */
static struct page *begin_read(u64 entry, unsigned gfp, struct page **there)
{
	if (!swap_get_used(entry))
		return NULL;
	struct page *page = alloc_page(gfp);
	if (!page) {
		swap_put(entry);
		return ERR_PTR(-ENOMEM);
	}
	page->flags = BIT(PG_locked) | BIT(PG_anon);
	memory_use_add(MEMORY_ANON, 1);
	*there = swap_cache_add(page, entry);
	if (!*there)
		return page;
	swap_put(entry);
	unlock_page(page);
	put_page(page);
	return NULL;
}

/* Pages of the slots around @entry's, too, which probably left memory together with it: into
 * @transfers, by slot: how many. */
static unsigned read_around(u64 entry, struct page *wanted, struct swap_transfer *transfers)
{
	u64 first = round_down(swap_slot(entry), (u64)SWAP_AROUND);
	unsigned count = 0;

	for (u64 slot = first; slot < first + SWAP_AROUND; slot++) {
		struct page *page = wanted, *there = NULL;

		if (slot != swap_slot(entry)) {
			if (!slot ||
			    page_alloc_free_pages() < page_alloc_total_pages() / SPARE_SHARE)
				continue;
			page = begin_read(swap_entry(swap_type(entry), slot),
					  GFP_KERNEL | GFP_NOWARN, &there);
		}
		if (there)
			put_page(there);
		if (!IS_ERR_OR_NULL(page))
			transfers[count++] = (struct swap_transfer){page, page->index};
	}
	return count;
}

struct page *swap_cache_get(u64 entry)
{
	struct swap_transfer transfers[SWAP_AROUND];
	struct page *page = swap_cache_find(entry), *there = NULL;

	if (page)
		return page;
	page = begin_read(entry, GFP_KERNEL | GFP_NOWARN, &there);
	if (IS_ERR_OR_NULL(page))
		return page ? page : there;
	current->major_faults++;
	get_page(page);
	unsigned count = read_around(entry, page, transfers);
	struct swap_backing *backing = swap_backing(entry);
	backing->start(backing, SWAP_READ, transfers, count);
	for (unsigned i = 0; i < count; i++)
		put_page(transfers[i].page);
	return page;
}
