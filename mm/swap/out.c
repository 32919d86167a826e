/*
 * out.c - the thread that swaps out, and when it does. Declared in swap.h and swap_hooks.h.
 *
 * Reclaim starts no I/O (mm/cache/reclaim.c): when the page cache gives too little it wakes this
 * thread, and waits a while. The thread goes round the address spaces, each from where it stopped
 * the last time; a page that was used since it was last here is left alone once (the accessed bit);
 * another gets a slot, and its entry names that. SWAP_BATCH of them are written together, by slot,
 * and dropped.
 *
 * The pages of a batch stay locked until they have been written. So what reclaim's hand comes by,
 * what a fault finds, and what an exit leaves behind is never half on its way. A page that cannot
 * be written stays in the swap cache, dirty, and is tried again by the next round.
 *
 * An address space is looked at under its lock, for reading, if it can be had at once: whoever
 * holds it may be waiting for the memory that is to become free. The page tables are walked under
 * page_table_lock, and translations are forgotten before it is let go and before anything is
 * written: from then on nobody stores to the page.
 */
#include "core/memory/shrinker.h"
#include "mm/space/vm_internal.h"
#include "mm/swap/swap.h"

#define HURRY_PRIORITY 3 /* of reclaim's rounds: from here on pages of programs go, too */
#define ROUND_SHARE 64	 /* of all frames, that one round frees */
#define ROUND_MAX 1024u

DEFINE_SPINLOCK(mms_lock);
LIST_HEAD(swap_mms);
static unsigned mm_count;    /* in that list; mms_lock */
static struct mm *looked_at; /* by the thread: must not go; mms_lock */
static DEFINE_WAIT_QUEUE(looked_wait);

static DEFINE_WAIT_QUEUE(thread_wait);
static bool hurried;	/* the thread is to work, or does */
static bool hindered;	/* an address space could not be looked at in its last round ... */
static bool freed_some; /* ... and some frame has become free by it */

static DEFINE_WAIT_QUEUE(written_wait);

struct batch {
	struct page *pages[SWAP_BATCH]; /* locked, in the swap cache, each with a reference */
	unsigned count;
};

static struct batch batch; /* the thread's */
static atomic_t in_flight; /* of its writes */

/* ---- address spaces -------------------------------------------------------------------------- */

void swap_mm_add(struct mm *mm)
{
	guard(spinlock, &mms_lock);
	list_add_tail(&mm->swap_link, &swap_mms);
	mm_count++;
}

static bool is_looked_at(const struct mm *mm)
{
	guard(spinlock, &mms_lock);
	return looked_at == mm;
}

void swap_mm_gone(struct mm *mm)
{
	{
		guard(spinlock, &mms_lock);
		if (!mm->swap_link.next)
			return; /* nothing ran in it */
		list_del(&mm->swap_link);
		mm_count--;
	}
	wait_event(looked_wait, !is_looked_at(mm));
}

static void look_away(void)
{
	{
		guard(spinlock, &mms_lock);
		looked_at = NULL;
	}
	wake_up(&looked_wait);
}

/* Look at the next one in turn, which stays until look_away(); NULL: there is none. */
static struct mm *look_at_next(void)
{
	guard(spinlock, &mms_lock);
	if (list_empty(&swap_mms))
		return NULL;
	looked_at = list_first_entry(&swap_mms, struct mm, swap_link);
	list_move_tail(&looked_at->swap_link, &swap_mms);
	return looked_at;
}

/* ---- unmapping ------------------------------------------------------------------------------- */

/* Have the locked anonymous page be in the swap cache; false: there is no room, or is to be none.
 */
static bool give_slot(struct page *page)
{
	assert_page_locked(page);
	if (test_bit(PG_cache, &page->flags))
		return swap_is_open(page->index);
	u64 entry = swap_alloc();
	if (!entry)
		return false;
	struct page *there = swap_cache_add(page, entry);
	if (unlikely(there)) { /* who reads what lies around has found the slot in use already */
		put_page(there);
		swap_put(entry);
		return false;
	}
	set_bit(PG_uptodate, &page->flags);
	set_page_dirty(page);
	return true;
}

/* The page at @slot goes into the batch, if it is one of the program's own and was not used lately;
 * does it? */
static bool unmap_page(struct mm *mm, pte_t *slot)
{
	struct page *page = phys_to_page(pte_page(*slot));

	lockdep_assert_held(&mm->page_table_lock);
	if (!test_bit(PG_anon, &page->flags))
		return false;
	if (*slot & PTE_ACCESSED) {
		__atomic_and_fetch(slot, ~PTE_ACCESSED, __ATOMIC_RELAXED);
		return false;
	}
	if (!trylock_page(page))
		return false;
	if (!give_slot(page)) {
		unlock_page(page);
		return false;
	}
	swap_get(page->index);
	xchg(slot, swap_to_pte(page->index));
	mm->resident_pages--;
	mm->swapped_pages++;
	batch.pages[batch.count++] = page; /* with the entry's reference */
	return true;
}

/* Fill the batch from @address on, up to @end, out of one table at most: where it ended. */
static u64 unmap_span(struct mm *mm, u64 address, u64 end)
{
	u64 first = end, behind = 0;

	guard(spinlock, &mm->page_table_lock);
	pte_t *slot = mmu_slot(&mm->mmu, address, MMU_FIND);
	end = min(end, mmu_next_span(&mm->mmu, address, slot));
	if (!slot)
		return end;
	for (; address < end && batch.count < SWAP_BATCH; address += PAGE_SIZE, slot++)
		if (pte_present(*slot) && unmap_page(mm, slot)) {
			first = min(first, address);
			behind = address + PAGE_SIZE;
		}
	if (behind)
		mmu_flush(&mm->mmu, first, behind);
	return address;
}

/* Fill the batch from @mm, from where the last one ended: is there more? */
static bool unmap_pages(struct mm *mm)
{
	u64 from = mm->swap_hand;

	lockdep_assert_held(&mm->lock);
	for_each_area (vma, mm, from, USER_TOP) {
		u64 address = max(from, vma->start);

		if (!READ_ONCE(vma->has_anonymous) || vma->flags & VM_LOCKED)
			continue;
		while (address < vma->end) {
			address = unmap_span(mm, address, vma->end);
			if (batch.count == SWAP_BATCH) {
				mm->swap_hand = address;
				return true;
			}
		}
	}
	mm->swap_hand = 0;
	return false;
}

/* Fill the batch from the next address space: is there more in it? */
static bool unmap_next(void)
{
	struct mm *mm = look_at_next();
	bool more = false;

	if (!mm)
		return false;
	if (try_join_readers(&mm->lock)) {
		more = unmap_pages(mm);
		up_read(&mm->lock);
	} else {
		hindered = true;
	}
	look_away();
	return more;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Dirty pages that are in the cache already, since they could not be written, go into the batch. */
static void gather_left_over(void)
{
	struct page *page;

	guard(spinlock, &swap_space.lock);
	list_for_each_entry (page, &swap_space.dirty_pages, mapping_link) {
		if (batch.count == SWAP_BATCH)
			break;
		if (!trylock_page(page))
			continue;
		get_page(page);
		batch.pages[batch.count++] = page;
	}
}

void swap_page_done(struct page *page, enum swap_operation operation, int error)
{
	/* once it has one of these its reader may be through with it */
	bool is_swap_caches = test_bit(PG_anon, &page->flags);

	if (error)
		set_bit(PG_error, &page->flags);
	else if (operation == SWAP_READ)
		set_bit_release(PG_uptodate, &page->flags);
	if (operation == SWAP_WRITE) {
		if (atomic_dec_and_test(&in_flight))
			wake_up(&written_wait);
	} else if (is_swap_caches) {
		unlock_page(page);
	} else {
		swap_shmem_read();
	}
}

/* Must @page, of the batch, be written? What only the cache wants goes instead. */
static bool must_write(struct page *page)
{
	if (test_bit(PG_dirty, &page->flags) && swap_count(page->index) == 1)
		remove_from_page_cache(page);
	return test_bit(PG_dirty, &page->flags);
}

void swap_write(const struct swap_transfer *transfers, unsigned count)
{
	atomic_set(&in_flight, (int)count);
	for (unsigned done = 0, same; done < count; done += same) {
		u64 entry = transfers[done].entry;
		struct swap_backing *backing = swap_backing(entry);

		for (same = 1; done + same < count; same++)
			if (swap_type(transfers[done + same].entry) != swap_type(entry))
				break;
		backing->start(backing, SWAP_WRITE, &transfers[done], same);
	}
	wait_event(written_wait, !atomic_read(&in_flight));
}

/* Write what is dirty of the batch. */
static void write_batch(void)
{
	struct swap_transfer transfers[SWAP_BATCH];
	unsigned count = 0;

	for (unsigned i = 0; i < batch.count; i++)
		if (must_write(batch.pages[i]))
			transfers[count++] =
				(struct swap_transfer){batch.pages[i], batch.pages[i]->index};
	swap_write(transfers, count);
}

/* What was written is dropped, if nobody maps it: how many were. */
static u64 drop_batch(void)
{
	u64 freed = 0;

	for (unsigned i = 0; i < batch.count; i++) {
		struct page *page = batch.pages[i];

		if (!test_and_clear_bit(PG_error, &page->flags) && page->mapping)
			clear_page_dirty(page);
		bool cached = page->mapping;
		unlock_page(page);
		if (cached)
			freed += drop_unused_page(page);
		else
			put_page(page); /* nobody wanted it */
		freed += !cached;
	}
	batch.count = 0;
	return freed;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

u64 swap_out(u64 pages)
{
	u64 freed = 0;

	hindered = false;
	gather_left_over();
	/* Three times round: what was used lately is left alone once, a file's page that is mapped
	 * is unmapped first. A round is all address spaces, and all frames in as many parts. */
	for (unsigned idle = 0; freed < pages && idle <= 3 * (READ_ONCE(mm_count) + 1);) {
		u64 now = swap_shmem_out(memmap_pages / (READ_ONCE(mm_count) + 1) + 1);

		idle += !unmap_next();
		if (batch.count) {
			write_batch();
			now += drop_batch();
		}
		if (now)
			idle = 0;
		freed += now;
		cond_resched();
	}
	return freed;
}

static bool has_room(void)
{
	return swap_free_pages() || swap_cached_pages();
}

static int swap_thread(void *unused)
{
	current->in_reclaim = true; /* others wait for memory from us: we may use the reserve */
	for (;;) {
		wait_event(thread_wait, READ_ONCE(hurried));
		u64 goal = min_t(u64, page_alloc_total_pages() / ROUND_SHARE, ROUND_MAX);
		WRITE_ONCE(freed_some, swap_out(goal) != 0);
		WRITE_ONCE(hurried, false);
	}
	return 0;
}

/* ---- what reclaim asks ----------------------------------------------------------------------- */

static u64 hurry(unsigned priority)
{
	if (priority > HURRY_PRIORITY || READ_ONCE(hurried) || !has_room())
		return 0;
	WRITE_ONCE(hurried, true);
	wake_up(&thread_wait);
	return 0;
}

static bool is_busy(void)
{
	return has_room() && (READ_ONCE(hurried) || READ_ONCE(freed_some));
}

bool swap_may_help(void)
{
	return is_busy() || (has_room() && READ_ONCE(hindered));
}

void swap_start(void)
{
	static struct shrinker shrinker = {
		.name = "programs' pages",
		.if_too_few = hurry,
		.is_busy = is_busy,
	};

	swap_cache_init();
	swap_shmem_start();
	if (IS_ERR(kthread_create(swap_thread, NULL, "swap")))
		pr_err("swap: no thread, nothing is swapped out\n");
	else
		shrinker_register(&shrinker);
}
