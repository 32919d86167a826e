/*
 * pages.c - the pages of tmpfs's files.
 *
 * A file's pages have no disk to go to: they are born uptodate, stay dirty, so that reclaim leaves
 * them alone, and are freed when the file is truncated or its last name and use are gone. A page
 * that is not dirty is a hole. The number of pages and that of inodes are limited (to half of
 * memory's pages, or size= and nr_inodes=) since a full tmpfs must be ENOSPC and not the end of the
 * machine. As in Linux, each further name of a file counts as an inode, and what a long symbolic
 * link takes as pages (tmpfs.c).
 */
#include "fs/tmpfs/pages.h"
#include "mm/cache/page_lookup.h"

/* A page that is not dirty was never written; it is charged when it is. Faults do so at once. */
static int tmpfs_write_begin(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	TRY(swap_shmem_in(page));
	if (!test_bit(PG_dirty, &page->flags)) {
		if (!percpu_counter_inc(&super_of(inode)->pages))
			return -ENOSPC;
		__atomic_fetch_add(&inode->blocks, PAGE_BLOCKS, __ATOMIC_RELAXED);
	}
	if (!page_uptodate(page) && to - from < PAGE_SIZE) {
		memset(page_address(page), 0, from);
		memset((char *)page_address(page) + to, 0, PAGE_SIZE - to);
	}
	return 0;
}

static int tmpfs_write_end(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	if (!page_uptodate(page))
		set_bit_release(PG_uptodate, &page->flags);
	set_page_dirty(page);
	return 0;
}

/* A page that is not there is zeros, or swapped out. */
static int tmpfs_readpages(struct inode *inode, struct page **pages, unsigned count)
{
	int error = 0;

	for (unsigned i = 0; i < count; i++) {
		int in = swap_shmem_in(pages[i]);

		if (!in) {
			memset(page_address(pages[i]), 0, PAGE_SIZE);
			set_bit_release(PG_uptodate, &pages[i]->flags);
		}
		error = min(error, in);
		unlock_page(pages[i]);
	}
	return error;
}

/* A dirty page goes away for good: give its charge back. */
static void tmpfs_invalidate(struct page *page, unsigned from)
{
	struct inode *inode = page->mapping->host;

	if (from == 0 && test_bit(PG_dirty, &page->flags)) {
		percpu_counter_add(&super_of(inode)->pages, -1);
		__atomic_fetch_sub(&inode->blocks, PAGE_BLOCKS, __ATOMIC_RELAXED);
	}
}

#ifdef CONFIG_SWAP
static void tmpfs_swapped_gone(struct inode *inode, u64 pages)
{
	__atomic_fetch_sub(&inode->blocks, pages * PAGE_BLOCKS, __ATOMIC_RELAXED);
	percpu_counter_add(&super_of(inode)->pages, -(s64)pages);
}
#endif

const struct address_space_operations tmpfs_page_operations = {
#ifdef CONFIG_SWAP
	.swapped_gone = tmpfs_swapped_gone,
#endif
	.readpages = tmpfs_readpages,
	.write_begin = tmpfs_write_begin,
	.write_end = tmpfs_write_end,
	.invalidate = tmpfs_invalidate,
};

/* The first page of data from @index on; one behind all if there is none. */
static pgoff_t next_data(struct inode *inode, pgoff_t index)
{
#ifdef CONFIG_SWAP
	guard(spinlock, &shmem_lock); /* meanwhile no page is swapped out or in */
#endif
	struct page *page = page_lookup(&inode->data, index);
	pgoff_t next = FILE_END >> PAGE_SHIFT;
	bool data = page && test_bit(PG_dirty, &page->flags);

	if (page)
		put_page(page);
	if (data || swap_shmem_next(&inode->data, index, index + 1) == index)
		return index;
	guard(spinlock, &inode->data.lock);
	list_for_each_entry (page, &inode->data.clean_pages, mapping_link)
		if (page->index > index && test_bit(PG_dirty, &page->flags))
			next = min(next, page->index);
	return swap_shmem_next(&inode->data, index, next);
}

int tmpfs_seek(struct inode *inode, loff_t offset, bool hole, loff_t *found)
{
	pgoff_t index = (u64)offset >> PAGE_SHIFT;

	if (!hole)
		index = next_data(inode, index);
	for (; hole && next_data(inode, index) == index; index++)
		cond_resched();
	*found = (loff_t)min(max((u64)offset, index << PAGE_SHIFT), (u64)inode->data.size);
	if (hole || *found < inode->data.size)
		return 0;
	return -ENXIO;
}

int tmpfs_truncate(struct inode *inode, loff_t size)
{
	loff_t old = inode->data.size;

	lockdep_assert_held(&inode->lock);
	WRITE_ONCE(inode->data.size, size);
	if (size <= old) /* what was reserved behind the end goes, too */
		truncate_inode_pages(&inode->data, (u64)size, FILE_END);
	return 0;
}
