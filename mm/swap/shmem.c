/*
 * shmem.c - pages of files that are in memory alone (tmpfs, memfds, shared memory), which go to
 * swap and come back. Declared in swap.h and swap_hooks.h.
 *
 * Such a page has a way to all that map it (mm/space/rmap.c), and its file is the one place that
 * knows it: so it needs no swap cache. On its way out it stays in the page cache, locked, until it
 * is written; then the file has a slot in its place, here, and the page goes. Who wants it makes a
 * page in the page cache as for a hole, and has that filled from the slot, which goes.
 *
 * States of a page of such a file that has been written to: in the page cache and PG_dirty -> it
 * has a slot, and is in the page cache, locked and not PG_dirty -> it has a slot alone -> that, and
 * a page that is being filled, locked -> as at first. From one to the next it goes under
 * shmem_lock: so whoever holds that finds all data as PG_dirty or as a slot, and nothing twice. The
 * file's nr_pages counts both, and the file system's charge stays what it is.
 *
 * Truncation takes the slots first and then the pages, and forbids new slots until it is through.
 *
 * Lock order: page lock -> shmem_lock -> bucket lock of the page table, mapping->lock; swap_lock.
 *
 * Limits: one page is read at a time; there is no read-ahead.
 */
#include "core/memory/slab.h"
#include "hash/cache.h"
#include "mm/space/vm_internal.h"
#include "mm/swap/swap.h"

/* After the word it computes in. */
#include "hash/any/fibonacci.h"

#define SHARE 4 /* frames for each bucket of the slots */

struct shmem_slot {
	struct shmem_slot *next;		     /* in its bucket */
	struct shmem_slot *next_of_file, **previous; /* from mapping->slots on; what points here */
	struct address_space *mapping;
	pgoff_t index;
	u64 entry;
};

DEFINE_SPINLOCK(shmem_lock); /* all that follows, mapping->slots, mapping->truncating */
static struct shmem_slot **buckets;
static unsigned bits;

static u64 hand; /* the thread's: the frame to look at next */
static DEFINE_WAIT_QUEUE(read_wait);

/* ---- slots ----------------------------------------------------------------------------------- */

/* The pointer to the slot of the page at @index, which is NULL if it has none. */
static struct shmem_slot **find(const struct address_space *mapping, pgoff_t index)
{
	struct shmem_slot **at = &buckets[any_fibonacci(index, (uintptr_t)mapping, bits)];

	lockdep_assert_held(&shmem_lock);
	while (*at && ((*at)->mapping != mapping || (*at)->index != index))
		at = &(*at)->next;
	return at;
}

static void add_to_count(struct address_space *mapping, int pages)
{
	guard(spinlock, &mapping->lock);
	mapping->nr_pages += (u64)pages;
}

/* The slot goes, and its entry is given back. */
static void forget(struct shmem_slot *slot)
{
	*find(slot->mapping, slot->index) = slot->next;
	*slot->previous = slot->next_of_file;
	if (slot->next_of_file)
		slot->next_of_file->previous = slot->previous;
	add_to_count(slot->mapping, -1);
	swap_put(slot->entry);
	kfree(slot);
}

/* The locked @page, whose bytes @slot has, is not to be data any more: @slot is. false: its file is
 * being truncated. */
static bool give_to_slot(struct page *page, struct shmem_slot *slot)
{
	struct address_space *mapping = page->mapping;

	assert_page_locked(page);
	guard(spinlock, &shmem_lock);
	if (mapping->truncating)
		return false;
	slot->next = NULL;
	*find(mapping, page->index) = slot;
	slot->next_of_file = mapping->slots;
	slot->previous = &mapping->slots;
	if (slot->next_of_file)
		slot->next_of_file->previous = &slot->next_of_file;
	mapping->slots = slot;
	add_to_count(mapping, 1);
	clear_bit(PG_dirty, &page->flags);
	return true;
}

/* The locked @page, which has the same bytes, is data in place of its slot. false: truncation was
 * faster. */
static bool take_from_slot(struct page *page)
{
	assert_page_locked(page);
	guard(spinlock, &shmem_lock);
	struct shmem_slot *slot = *find(page->mapping, page->index);

	if (!slot)
		return false;
	forget(slot);
	set_bit(PG_dirty, &page->flags);
	return true;
}

pgoff_t swap_shmem_next(const struct address_space *mapping, pgoff_t index, pgoff_t next)
{
	lockdep_assert_held(&shmem_lock);
	if (mapping->slots && *find(mapping, index))
		return index;
	for (const struct shmem_slot *slot = mapping->slots; slot; slot = slot->next_of_file)
		if (slot->index > index)
			next = min(next, slot->index);
	return next;
}

/* ---- truncation ------------------------------------------------------------------------------ */

void swap_shmem_truncate(struct address_space *mapping, pgoff_t first, pgoff_t last)
{
	u64 pages = 0;

	if (mapping->ops->writepage)
		return;
	{
		guard(spinlock, &shmem_lock);
		mapping->truncating++;
		for (struct shmem_slot *slot = mapping->slots, *next; slot; slot = next) {
			next = slot->next_of_file;
			if (slot->index < first || slot->index > last)
				continue;
			forget(slot);
			pages++;
		}
	}
	if (pages)
		mapping->ops->swapped_gone(mapping->host, pages);
}

void swap_shmem_truncated(struct address_space *mapping)
{
	if (mapping->ops->writepage)
		return;
	guard(spinlock, &shmem_lock);
	mapping->truncating--;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* Fill the locked @page, no swap cache's, from @entry, which the caller has, and wait: 0, and it is
 * uptodate; or -EIO. */
static int read_page(struct page *page, u64 entry)
{
	struct swap_backing *backing = swap_backing(entry);
	struct swap_transfer transfer = {page, entry};

	assert_page_locked(page);
	clear_bit(PG_error, &page->flags);
	backing->start(backing, SWAP_READ, &transfer, 1);
	wait_event(read_wait, page_uptodate(page) || test_bit(PG_error, &page->flags));
	if (test_and_clear_bit(PG_error, &page->flags))
		return -EIO;
	return 0;
}

void swap_shmem_read(void)
{
	wake_up(&read_wait);
}

/* The entry of the slot of @mapping's page at @index, wanted once more by the caller; 0: none. */
static u64 get_entry(const struct address_space *mapping, pgoff_t index)
{
	guard(spinlock, &shmem_lock);
	const struct shmem_slot *slot = *find(mapping, index);

	if (!slot)
		return 0;
	swap_get(slot->entry);
	return slot->entry;
}

int swap_shmem_in(struct page *page)
{
	u64 entry;
	int error;

	assert_page_locked(page);
	if (page_uptodate(page) || !READ_ONCE(page->mapping->slots))
		return 0;
	entry = get_entry(page->mapping, page->index);
	if (!entry)
		return 0;
	error = read_page(page, entry);
	if (!error && !take_from_slot(page))
		memset(page_address(page), 0, PAGE_SIZE); /* a hole now, and about to go */
	swap_put(entry);
	return error ?: 1;
}

struct page *swap_shmem_get(struct address_space *mapping, pgoff_t index)
{
	u64 entry = READ_ONCE(mapping->slots) ? get_entry(mapping, index) : 0;
	struct page *page;
	int error;

	if (!entry)
		return NULL;
	page = find_or_create_page(mapping, index);
	swap_put(entry);
	if (!page)
		return NULL;
	error = swap_shmem_in(page);
	unlock_page(page);
	if (error >= 0)
		return page;
	put_page(page);
	return NULL;
}

/* ---- swapoff --------------------------------------------------------------------------------- */

/* Some slot that is in the area @type: its entry, wanted once more; 0: there is none. From
 * *@bucket on. */
static u64 next_of_area(unsigned type, u32 *bucket)
{
	guard(spinlock, &shmem_lock);
	for (; *bucket < 1u << bits; ++*bucket)
		for (struct shmem_slot *slot = buckets[*bucket]; slot; slot = slot->next)
			if (swap_type(slot->entry) == type) {
				swap_get(slot->entry);
				return slot->entry;
			}
	return 0;
}

/* The page with the bytes of @entry goes into the page cache in place of a slot of @bucket, if that
 * is still there and nobody is about to do the same. */
static void put_in_place(struct page *page, u64 entry, u32 bucket)
{
	struct page *there = NULL;

	guard(spinlock, &shmem_lock);
	struct shmem_slot *slot = buckets[bucket];
	while (slot && slot->entry != entry)
		slot = slot->next;
	if (slot)
		there = add_to_page_cache(page, slot->mapping, slot->index);
	if (there) /* what a failed read left there goes, and the next look at the slot succeeds */
		drop_unused_page(there);
	if (!slot || there)
		return;
	set_bit(PG_dirty, &page->flags);
	set_bit_release(PG_uptodate, &page->flags);
	forget(slot);
}

int swap_shmem_empty(unsigned type)
{
	u32 bucket = 0;
	u64 entry;

	while ((entry = next_of_area(type, &bucket)) != 0) {
		struct page *page = alloc_page(GFP_KERNEL | GFP_NOWARN);
		int error = -ENOMEM;

		if (page) {
			page->flags = BIT(PG_locked);
			error = read_page(page, entry);
			if (!error)
				put_in_place(page, entry, bucket);
			unlock_page(page);
			put_page(page);
		}
		swap_put(entry);
		TRY(error);
		if (signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* ---- out ------------------------------------------------------------------------------------- */

/* Is the page at @index in an area that is locked in memory? */
static bool is_locked(struct address_space *mapping, pgoff_t index)
{
	const struct vma *vma;

	guard(spinlock, &mapping->vma_lock);
	list_for_each_entry (vma, &mapping->vmas, link)
		if (vma->flags & VM_LOCKED && index >= vma->page_offset &&
		    index < vma_page_index(vma, vma->end))
			return true;
	return false;
}

/* May the locked page, to which the caller has a reference, go? One that is mapped is unmapped, for
 * now: if it is still wanted a fault will say so. */
static bool may_go(struct page *page)
{
	struct address_space *mapping = page->mapping;

	assert_page_locked(page);
	if (!mapping || mapping->ops->writepage || !test_bit(PG_dirty, &page->flags) ||
	    !page_uptodate(page) || is_locked(mapping, page->index))
		return false;
	if (atomic_read(&page->mapcount)) {
		mm_unmap_file(mapping, page->index, page->index, ZAP_FILE_PAGES);
		return false;
	}
	return atomic_read(&page->refcount) == 2;
}

/* The frame's page, locked and referenced, if it is one that may go; or NULL. As reclaim's hand it
 * looks at frames in any state (mm/cache/reclaim.c). */
static struct page *try_frame(struct page *page)
{
	unsigned long flags = READ_ONCE(page->flags);

	if ((flags & (BIT(PG_cache) | BIT(PG_dirty) | BIT(PG_locked) | BIT(PG_anon))) !=
	    (BIT(PG_cache) | BIT(PG_dirty)))
		return NULL;
	if (flags & BIT(PG_referenced)) {
		clear_bit(PG_referenced, &page->flags);
		return NULL;
	}
	if (!atomic_inc_not_zero(&page->refcount))
		return NULL;
	if (test_bit(PG_cache, &page->flags) && trylock_page(page)) {
		if (may_go(page))
			return page;
		unlock_page(page);
	}
	put_page(page);
	return NULL;
}

/* A page to write: from where the hand is, at most *@frames further; NULL: there is none. */
static struct page *next_page(u64 *frames)
{
	while (*frames) {
		struct page *page = try_frame(&memmap[hand]);

		--*frames;
		hand = (hand + 1) % memmap_pages;
		if (page)
			return page;
	}
	return NULL;
}

/* A slot for @page, not yet its file's; NULL: no memory, or swap is full. */
static struct shmem_slot *make_slot(const struct page *page)
{
	struct shmem_slot *slot = kmalloc(sizeof(*slot), GFP_KERNEL | GFP_NOWARN);

	if (!slot)
		return NULL;
	slot->mapping = page->mapping;
	slot->index = page->index;
	slot->entry = swap_alloc();
	if (slot->entry)
		return slot;
	kfree(slot);
	return NULL;
}

/* The written @page goes, and @slot stands for it; or it stays: is it gone? */
static bool replace_page(struct page *page, struct shmem_slot *slot)
{
	bool written = !test_and_clear_bit(PG_error, &page->flags), gone = false;

	if (written && give_to_slot(page, slot)) {
		clear_bit(PG_dirty_all, &page->flags);
		gone = remove_unused_page(page);
		if (!gone)
			take_from_slot(page); /* somebody has found it meanwhile */
	} else {
		swap_put(slot->entry);
		kfree(slot);
	}
	unlock_page(page);
	put_page(page);
	return gone;
}

u64 swap_shmem_out(u64 frames)
{
	struct swap_transfer transfers[SWAP_BATCH];
	struct shmem_slot *slots[SWAP_BATCH];
	unsigned count = 0;
	u64 freed = 0;

	if (!memory_use_total(MEMORY_SHMEM))
		return 0;
	while (count < SWAP_BATCH) {
		struct page *page = next_page(&frames);

		if (!page)
			break;
		slots[count] = make_slot(page);
		if (!slots[count]) {
			unlock_page(page);
			put_page(page);
			break;
		}
		transfers[count] = (struct swap_transfer){page, slots[count]->entry};
		count++;
	}
	swap_write(transfers, count);
	for (unsigned i = 0; i < count; i++)
		freed += replace_page(transfers[i].page, slots[i]);
	return freed;
}

void swap_shmem_start(void)
{
	u64 wanted = max(page_alloc_total_pages() / SHARE, 2ull);

	while (wanted > 1 && !buckets) {
		bits = min(ilog2(wanted), 18u);
		buckets = kzalloc(sizeof(*buckets) << bits, GFP_KERNEL | GFP_NOWARN);
		wanted /= 2;
	}
}
