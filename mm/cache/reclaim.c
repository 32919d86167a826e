/*
 * reclaim.c - getting frames back when memory is short: clean pages of the page cache, and what
 * those give who have registered for it (core/memory/shrinker.h): caches of other objects, slabs,
 * kernel stacks. The allocator calls reclaim_pages(), which is registered in the same way.
 *
 * Page reclaim is a clock, as in Linux 2.2: a hand goes round all frames; a page that was used
 * since the hand last came (PG_referenced: found by a read, a write or a fault) gets a second
 * chance; one that is mapped loses its mappings, and so the next use is a fault that says so;
 * another goes if it is clean and only the cache holds it. So the cache keeps no list in order of
 * use, and a hit costs a test of a bit.
 *
 * The hand looks at frames that may be in any state. What makes that safe: a frame is only touched
 * after a reference was taken from a count that was not 0, and PG_cache was seen after that; such a
 * frame cannot change its use while the reference is held, and is locked or has been unlocked by
 * its owner.
 *
 * Reclaim starts no I/O, and takes locks by trying, or spinlocks under which nobody allocates: so
 * any GFP_KERNEL allocation may call it. Dirty pages are for write-back, which is asked like the
 * others. Anonymous memory stays, or is for swap's thread (mm/swap/out.c), which is asked likewise;
 * what is clean in the swap cache goes.
 */
#include <arch/mmu.h>

#include "core/memory/shrinker.h"
#include "mm/cache/page_cache.h"

/* the first round looks at 1/64 of memory and of each cache, the last at all */
#define PRIORITIES 7
#define PAUSE_NS (5 * NSEC_PER_MSEC)
#define PAUSES 40 /* at most, while something is being written */

static u64 hand;

/* The locked, referenced page: drop it if it is clean and unused; was it? One that is mapped is
 * unmapped only, for now: if it is still wanted a fault will say so. */
static bool drop_page(struct page *page)
{
	struct address_space *mapping = page->mapping;

	assert_page_locked(page);
	/* newer than what a disk has, if any: so are all pages of files in memory */
	if (!mapping || test_bit(PG_dirty_all, &page->flags) ||
	    (test_bit(PG_dirty, &page->flags) && !page->buffers))
		return false;
	if (atomic_read(&page->mapcount)) {
		mm_unmap_file(mapping, page->index, page->index, ZAP_FILE_PAGES);
		return false;
	}
	if (page->buffers && !mapping->ops->free_buffers(page))
		return false;
	clear_page_dirty(page);
	return remove_unused_page(page);
}

bool drop_unused_page(struct page *page)
{
	bool dropped = false;

	if (test_bit(PG_cache, &page->flags) && trylock_page(page)) {
		dropped = drop_page(page);
		unlock_page(page);
	}
	put_page(page);
	return dropped;
}

static bool try_page(struct page *page)
{
	unsigned long flags = READ_ONCE(page->flags);

	if (!(flags & BIT(PG_cache)) || (flags & BIT(PG_locked)))
		return false;
	if (flags & BIT(PG_referenced)) {
		clear_bit(PG_referenced, &page->flags);
		return false;
	}
	return atomic_inc_not_zero(&page->refcount) && drop_unused_page(page);
}

/* Move the hand over @frames frames; how many were freed. */
static u64 turn_clock(u64 frames, u64 wanted)
{
	u64 freed = 0, at = READ_ONCE(hand);

	while (frames-- && freed < wanted) {
		if (at >= memmap_pages)
			at = 0;
		freed += try_page(&memmap[at++]);
	}
	WRITE_ONCE(hand, at);
	return freed;
}

void drop_clean_pages(void)
{
	while (turn_clock(2 * memmap_pages, ~0ULL))
		continue;
}

/* ---- what has registered --------------------------------------------------------------------- */

static u64 shrink_before_pages(unsigned priority)
{
	struct shrinker *shrinker;
	u64 objects = 0;

	list_for_each_entry (shrinker, &shrinkers, link)
		if (shrinker->before_pages)
			objects += shrinker->before_pages(priority);
	return objects;
}

/* @missing: pages that are wanted still. */
static u64 shrink_after_pages(unsigned priority, u64 missing)
{
	struct shrinker *shrinker;
	u64 objects = 0;

	list_for_each_entry (shrinker, &shrinkers, link) {
		if (shrinker->after_pages)
			objects += shrinker->after_pages(priority);
		if (missing && shrinker->if_too_few)
			objects += shrinker->if_too_few(priority);
	}
	return objects;
}

static u64 give_frames(void)
{
	struct shrinker *shrinker;
	u64 frames = 0;

	list_for_each_entry (shrinker, &shrinkers, link)
		if (shrinker->give_frames)
			frames += shrinker->give_frames();
	return frames;
}

static bool any_is_busy(void)
{
	struct shrinker *shrinker;

	list_for_each_entry (shrinker, &shrinkers, link)
		if (shrinker->is_busy && shrinker->is_busy())
			return true;
	return false;
}

/* The machine's stacks of threads that have ended. */
static u64 give_stacks(void)
{
	return arch_shrink_stacks(0);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* All rounds, until @pages frames were freed: how many were. *@objects of the caches went, too. */
static u64 reclaim_once(u64 pages, u64 *objects)
{
	unsigned priority = PRIORITIES;
	u64 freed = 0;

	while (priority > 0 && freed < pages) {
		priority--;
		*objects += shrink_before_pages(priority);
		freed += turn_clock(memmap_pages >> priority, pages - freed);
		*objects += shrink_after_pages(priority, pages - min(freed, pages));
		freed += give_frames();
	}
	return freed;
}

/* reclaim_pages() of shrinker.h. */
static u64 reclaim(u64 pages)
{
	u64 freed = 0, objects = 0;

	if (current->in_reclaim)
		return 0;
	current->in_reclaim = true;
	for (unsigned pauses = 0; pauses < PAUSES; pauses++, objects = 0) {
		freed = reclaim_once(pages, &objects);
		if (freed)
			break;
		/* Everything is in use or dirty: let write-back and the victims of the OOM killer
		 * get on. Objects that went may be the last but one of their slab. */
		sleep_ns(PAUSE_NS);
		if (!objects && !any_is_busy())
			break;
	}
	current->in_reclaim = false;
	return freed;
}

void reclaim_init(void)
{
	static struct shrinker stacks = {.name = "kernel stacks", .give_frames = give_stacks};

	shrinker_register(&stacks);
	reclaim_register(reclaim);
}
