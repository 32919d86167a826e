/*
 * page_cache.c - the table of file pages, page locks, dirty bookkeeping, writing a file's pages
 * out, and dropping them: because the file shrinks, goes away, or is unmounted.
 *
 * A lookup computes the bucket from (inode address, byte offset), takes the bucket's lock, walks,
 * and takes a reference before it lets go; so whoever holds the bucket lock and sees only the
 * references he knows of may remove the page. Waiting for a page uses one of a few hashed queues:
 * PG_waiters says that it is worth a look.
 *
 * Locks: see page_cache.h. Nothing sleeps while it holds one of the spinlocks.
 */
#include "mm/cache/page_cache.h"

#include "mm/cache/page_lookup.h"

#define WAIT_QUEUES 64
#define LAST_PAGE ((FILE_END >> PAGE_SHIFT) - 1) /* of the largest file */
#define GATHERED 16 /* pages that truncation takes from a list at a time */

struct page_table page_table_instance;
static wait_queue_head_t wait_queues[WAIT_QUEUES];
static DEFINE_WAIT_QUEUE(write_wait); /* some mapping's writes fell to 0 */

/* ---- find, add, remove ----------------------------------------------------------------------- */

#ifdef CONFIG_PAGE_LOCK_SEQUENCE
struct page *page_lookup_again(struct address_space *mapping, pgoff_t index, struct page *other)
{
	if (other)
		put_page(other);
	return page_find_locked(mapping, page_bucket(mapping, index), index);
}
#endif

struct page *add_to_page_cache(struct page *page, struct address_space *mapping, pgoff_t index)
{
	REGION_MARK(HASH_page, 0);
	u32 bucket = page_bucket(mapping, index);

	page_table_lock(&page_table_instance, &mapping->pages, bucket);
	struct page *old = page_find(mapping, bucket, index);

	REGION_MARK(HASH_page, 1);
	if (!old) {
		page->mapping = mapping;
		page->index = index;
		page->buffers = NULL;
		atomic_inc(&page->refcount); /* reclaim may have one for a moment, too */
		/* In one store, for reclaim: what has PG_cache is locked or has been unlocked by
		 * its owner. */
		smp_store_release(&page->flags,
				  BIT(PG_locked) | BIT(PG_cache) | BIT(PG_referenced));
		page_table_insert(&page_table_instance, &mapping->pages, bucket, page);
		HASH_COUNT(page, inserts, 1);
		HASH_RECORD(page, HASH_INSERT, page, mapping->host, (u64)index << PAGE_SHIFT);
	}
	page_table_unlock(&page_table_instance, &mapping->pages, bucket);
	if (old)
		return old;
	spin_lock(&mapping->lock);
	list_add_tail(&page->mapping_link, &mapping->clean_pages);
	mapping->nr_pages++;
	spin_unlock(&mapping->lock);
	memory_use_add(MEMORY_CACHED, 1);
	memory_use_add(MEMORY_SHMEM, !mapping->ops->writepage);
	return NULL;
}

/* The locked page leaves the table: true; or @when has it stay. */
static __always_inline bool unhash(struct page *page, struct address_space *mapping,
				   enum unhashed when)
{
	u32 bucket = page_bucket(mapping, page->index);

	assert_page_locked(page);
#ifdef CONFIG_SWAP_TABLE_OWN
	if (mapping == &swap_space)
		return swap_unhash(page, when);
#endif
	page_table_lock(&page_table_instance, &mapping->pages, bucket);
	/* the count is final under the bucket's lock */
	bool used = when == UNHASH_UNUSED && atomic_read(&page->refcount) != 2;
	if (!used) {
		page_table_remove(&page_table_instance, &mapping->pages, bucket, page);
		HASH_COUNT(page, removes, 1);
		HASH_RECORD(page, HASH_REMOVE, page, mapping->host,
			    page_key_offset(mapping, page->index));
	}
	page_table_unlock(&page_table_instance, &mapping->pages, bucket);
	return !used;
}

/* The unhashed page is its file's no more, and the cache's reference goes. */
static void leave_mapping(struct page *page, struct address_space *mapping)
{
	swap_page_left(page, mapping);
	memory_use_add(MEMORY_CACHED, -1);
	memory_use_add(MEMORY_SHMEM, -!mapping->ops->writepage);
	clear_page_dirty(page);
	spin_lock(&mapping->lock);
	list_del(&page->mapping_link);
	page->mapping = NULL;
	mapping->nr_pages--;
	clear_bit(PG_cache, &page->flags);
	spin_unlock(&mapping->lock); /* the mapping may be gone from here on */
	put_page(page);
}

void remove_from_page_cache(struct page *page)
{
	struct address_space *mapping = page->mapping;

	unhash(page, mapping, UNHASH);
	leave_mapping(page, mapping);
}

bool remove_unused_page(struct page *page)
{
	struct address_space *mapping = page->mapping;

	if (!unhash(page, mapping, UNHASH_UNUSED))
		return false;
	leave_mapping(page, mapping);
	return true;
}

struct page *find_or_create_page(struct address_space *mapping, pgoff_t index)
{
	struct page *page = page_lookup(mapping, index);

	if (!page) {
		struct page *fresh = alloc_page(GFP_KERNEL);

		if (!fresh)
			return NULL;
		page = add_to_page_cache(fresh, mapping, index);
		if (!page)
			return fresh;
		put_page(fresh);
	}
	lock_page(page);
	if (likely(page->mapping == mapping))
		return page;
	unlock_page(page); /* truncated while we waited */
	put_page(page);
	return find_or_create_page(mapping, index);
}

/* ---- waiting ------------------------------------------------------------------------------- */

static wait_queue_head_t *queue_of(const struct page *page)
{
	return &wait_queues[((uintptr_t)page / sizeof(struct page)) % WAIT_QUEUES];
}

static bool unlocked_or_mark(struct page *page)
{
	if (!test_bit(PG_locked, &page->flags))
		return true;
	set_bit(PG_waiters, &page->flags);
	smp_mb();
	return !test_bit(PG_locked, &page->flags);
}

void wait_on_page(struct page *page)
{
	wait_event(*queue_of(page), unlocked_or_mark(page));
}

void end_mapping_write(struct address_space *mapping)
{
	if (atomic_dec_and_test(&mapping->writes))
		wake_up(&write_wait);
}

/* The caller has cleared the flags. The frame may be another's by now: then its waiters wake for
 * nothing. */
void wake_page(const struct page *page)
{
	wake_up(queue_of(page));
}

/* ---- dirty ----------------------------------------------------------------------------------- */

void set_page_dirty(struct page *page)
{
	struct address_space *mapping = READ_ONCE(page->mapping);

	assert_page_locked(page);
	if (test_bit(PG_dirty, &page->flags) || !mapping)
		return;
	if (!mapping->ops->writepage) {
		/* nowhere to write it to: the flag alone keeps it from reclaim */
		set_bit(PG_dirty, &page->flags);
		return;
	}
	spin_lock(&mapping->lock);
	if (page->mapping && !test_and_set_bit(PG_dirty, &page->flags)) {
		list_move_tail(&page->mapping_link, &mapping->dirty_pages);
		memory_use_add(MEMORY_DIRTY, 1);
	}
	spin_unlock(&mapping->lock);
	mapping->ops->page_dirtied(mapping->host);
}

bool clear_page_dirty(struct page *page)
{
	struct address_space *mapping = page->mapping;

	assert_page_locked(page);
	if (!test_bit(PG_dirty, &page->flags))
		return false;
	guard(spinlock, &mapping->lock);
	if (test_and_clear_bit(PG_dirty, &page->flags) && mapping->ops->writepage) {
		list_move_tail(&page->mapping_link, &mapping->clean_pages);
		memory_use_add(MEMORY_DIRTY, -1);
	}
	return true;
}

/* ---- writing a file out ---------------------------------------------------------------------- */

/* The first page of @list, one of @mapping's, referenced, which goes to the end of it; or NULL.
 * mapping->lock is held. */
static struct page *next_page(const struct address_space *mapping, struct list_head *list)
{
	struct page *page;

	lockdep_assert_held(&mapping->lock);
	if (list_empty(list))
		return NULL;
	page = list_first_entry(list, struct page, mapping_link);
	list_move_tail(&page->mapping_link, list);
	get_page(page);
	return page;
}

/*
 * The next page to be written, or NULL. It counts as a write until its writepage() has counted the
 * blocks: so who waits for mapping->writes to fall to 0 waits for every page that another has
 * picked, too, dirty still or no longer.
 */
static struct page *pick_dirty_page(struct address_space *mapping)
{
	guard(spinlock, &mapping->lock);
	struct page *page = next_page(mapping, &mapping->dirty_pages);

	if (page)
		atomic_inc(&mapping->writes);
	return page;
}

/* Nothing but being picked moves a page back on the list: so as many as the file has pages are
 * enough to come to each that was dirty at the beginning. Others may go on dirtying meanwhile. */
int page_cache_flush(struct address_space *mapping)
{
	u64 left = READ_ONCE(mapping->nr_pages);
	struct page *page;
	int error = 0;

	if (!mapping->ops->writepage)
		return 0;
	for (; left > 0 && error != -ENOMEM; left--) {
		int result = 0;

		page = pick_dirty_page(mapping);
		if (!page)
			break;
		lock_page(page);
		if (page->mapping == mapping && test_bit(PG_dirty, &page->flags))
			result = mapping->ops->writepage(mapping->host, page);
		else
			unlock_page(page);
		if (!error || result == -ENOMEM)
			error = result;
		end_mapping_write(mapping);
		put_page(page);
	}
	return error;
}

int page_cache_sync(struct address_space *mapping)
{
	int before = atomic_read(&mapping->write_errors);
	int postponed = atomic_read(&mapping->postponed);
	int error = page_cache_flush(mapping);

	wait_event(write_wait, !atomic_read(&mapping->writes));
	if (!error && smp_load_acquire(&mapping->write_errors.counter) != before)
		error = READ_ONCE(mapping->write_error);
	if (!error && atomic_read(&mapping->postponed) != postponed)
		error = -ENOMEM; /* another had picked the page, and not written it */
	return error;
}

/* ---- truncation and invalidation ------------------------------------------------------------- */

/*
 * Truncation races with readers and faults that add or map pages. The order that keeps it right:
 * the caller has set the new i_size; programs' mappings of the range are removed; the pages are
 * removed; mappings are removed again. Who adds a page looks at i_size after it is in the cache,
 * and who maps a page looks at page->mapping under the page-table lock; so neither can be missed
 * twice.
 */

/* The bytes [from, to) of the page, whose reference is taken over, go; if that is all, so does it.
 */
static void truncate_page(struct address_space *mapping, struct page *page, unsigned from,
			  unsigned to)
{
	bool whole = to - from == PAGE_SIZE;

	lock_page(page);
	if (page->mapping == mapping) {
		if (!whole)
			memset((char *)page_address(page) + from, 0, to - from);
		if (to == PAGE_SIZE)
			mapping->ops->invalidate(page, from);
		if (whole) {
			clear_bit(PG_dirty_all, &page->flags);
			remove_from_page_cache(page);
		}
	}
	unlock_page(page);
	put_page(page);
}

/* The bytes [from, to) of the page at @index, if there is one, go. */
static void truncate_part(struct address_space *mapping, pgoff_t index, unsigned from, unsigned to)
{
	struct page *page = page_lookup(mapping, index) ?: swap_shmem_get(mapping, index);

	if (!page) /* it may have come back from there in between */
		page = page_lookup(mapping, index);
	if (page)
		truncate_page(mapping, page, from, to);
}

/* Those of @list's pages in [first, last] are referenced and put behind the @count in @pages, up to
 * GATHERED: how many there are then. They stay where they are, on which write-back relies. */
static unsigned gather_from(const struct list_head *list, pgoff_t first, pgoff_t last,
			    struct page **pages, unsigned count)
{
	/* from the end, where those mostly are that a truncation takes */
	for (const struct list_head *at = list->prev; at != list && count < GATHERED;
	     at = at->prev) {
		struct page *page = list_entry(at, struct page, mapping_link);

		if (page->index < first || page->index > last)
			continue;
		get_page(page);
		pages[count++] = page;
	}
	return count;
}

/* Both lists in one look: write-back moves pages from one to the other meanwhile. */
static unsigned gather_pages(struct address_space *mapping, pgoff_t first, pgoff_t last,
			     struct page **pages)
{
	guard(spinlock, &mapping->lock);
	unsigned count = gather_from(&mapping->clean_pages, first, last, pages, 0);

	return gather_from(&mapping->dirty_pages, first, last, pages, count);
}

/* The pages [first, last] go as a whole. */
static void truncate_whole_pages(struct address_space *mapping, pgoff_t first, pgoff_t last)
{
	struct page *pages[GATHERED];
	unsigned count;

	swap_shmem_truncate(mapping, first, last);
	for (;;) {
		count = gather_pages(mapping, first, last, pages);
		if (!count)
			break;
		for (unsigned i = 0; i < count; i++)
			truncate_page(mapping, pages[i], 0, PAGE_SIZE);
		if (last != LAST_PAGE && fatal_signal_pending(current))
			break; /* what is inside the file readers may bring back for ever */
		cond_resched();
	}
	swap_shmem_truncated(mapping);
}

void truncate_inode_pages(struct address_space *mapping, u64 start, u64 end)
{
	/* the pages that go as a whole, if any */
	pgoff_t first = (start + PAGE_SIZE - 1) >> PAGE_SHIFT, behind = end >> PAGE_SHIFT;
	unsigned head = start & (PAGE_SIZE - 1), tail = end & (PAGE_SIZE - 1);
	bool any = first < behind, in_one = first > behind;
	enum zapped what = end == FILE_END ? ZAP_COPIES_TOO : ZAP_FILE_PAGES;

	if (any && !list_empty(&mapping->vmas))
		mm_unmap_file(mapping, first, behind - 1, what);
	if (head)
		truncate_part(mapping, first - 1, head, in_one ? tail : PAGE_SIZE);
	if (tail && !in_one)
		truncate_part(mapping, behind, 0, tail);
	if (any)
		truncate_whole_pages(mapping, first, behind - 1);
	if (any && !list_empty(&mapping->vmas))
		mm_unmap_file(mapping, first, behind - 1, what);
}

void invalidate_inode_pages(struct address_space *mapping)
{
	for (u64 left = READ_ONCE(mapping->nr_pages); left; left--) {
		spin_lock(&mapping->lock);
		struct page *page = next_page(mapping, &mapping->clean_pages);
		spin_unlock(&mapping->lock);
		if (!page)
			break;
		drop_unused_page(page);
		cond_resched();
	}
}

/* ---- set-up ---------------------------------------------------------------------------------- */

void address_space_init(struct address_space *mapping, struct inode *host,
			const struct address_space_operations *ops)
{
	*mapping = (struct address_space){.host = host, .ops = ops};
	page_table_root_init(&mapping->pages);
	spin_lock_init(&mapping->lock, "mapping->lock");
	INIT_LIST_HEAD(&mapping->clean_pages);
	INIT_LIST_HEAD(&mapping->dirty_pages);
	spin_lock_init(&mapping->vma_lock, "mapping->vma_lock");
	INIT_LIST_HEAD(&mapping->vmas);
}

DEFINE_HASH_CACHE(page, PAGE, "Page", "pages", "find_page");

void page_cache_init(void)
{
	for (unsigned i = 0; i < WAIT_QUEUES; i++)
		init_waitqueue_head(&wait_queues[i]);
	page_table_create(&page_table_instance, &page_cache_hash);
	reclaim_init();
}
