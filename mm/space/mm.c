/*
 * mm.c - address spaces as a whole: making, forking, giving up, and clearing entries. Declared in
 * vm.h.
 *
 * Fork copies the entries of anonymous pages only, write-protected on both sides; pages of files
 * are found again in the page cache, several at a fault. An entry is cleared first, then the CPUs
 * forget it, then the page loses its reference: so a frame never has another owner while some CPU
 * can still write to it.
 */
#include "core/memory/slab.h"
#include "mm/space/vm_internal.h"

#define ZAP_BATCH 64

const struct mapped_file_operations *mapped_files;

/* ---- clearing entries ------------------------------------------------------------------------ */

/* Pages whose entries have been cleared, until the translations are forgotten. */
struct zap {
	struct mm *mm;
	u64 start, end; /* of the entries */
	bool exiting;	/* no CPU runs programs in it any more: nothing to forget */
	enum zapped what;
	unsigned count;
	struct page *pages[ZAP_BATCH];
};

static void zap_finish(struct zap *zap)
{
	lockdep_assert_held(&zap->mm->page_table_lock);
	mmu_flush(&zap->mm->mmu, zap->start, zap->end);
	for (unsigned i = 0; i < zap->count; i++) {
		/* only now: of a page that seems not mapped no entry is looked for */
		if (!test_bit(PG_anon, &zap->pages[i]->flags))
			atomic_dec(&zap->pages[i]->mapcount);
		put_page(zap->pages[i]);
	}
	zap->count = 0;
}

static __always_inline void zap_entry(pte_t *slot, u64 address, void *argument)
{
	struct zap *zap = argument;

	if (pte_is_swap(*slot)) {
		swap_zap(zap->mm, slot, zap->what);
		return;
	}
	struct page *page = phys_to_page(pte_page(*slot));
	bool file = !test_bit(PG_anon, &page->flags);

	if (!file && zap->what == ZAP_FILE_PAGES)
		return;
	*slot = 0;
	zap->mm->resident_pages--;
	if (file)
		zap->mm->file_pages--;
	else
		swap_page_unmapped(page);
	if (zap->exiting) { /* nobody is left to store to it */
		if (file)
			atomic_dec(&page->mapcount);
		put_page(page);
		return;
	}
	if (!zap->count)
		zap->start = address;
	zap->end = address + PAGE_SIZE;
	zap->pages[zap->count++] = page;
	if (zap->count == ZAP_BATCH)
		zap_finish(zap);
}

static void zap_entries(struct vma *vma, u64 start, u64 end, enum zapped what)
{
	struct zap zap;

	zap.mm = vma->mm;
	zap.exiting = !atomic_read(&vma->mm->users);
	zap.what = what;
	zap.count = 0;
	guard(spinlock, &zap.mm->page_table_lock);
	visit_entries(zap.mm, start, end, zap_entry, &zap);
	if (zap.count)
		zap_finish(&zap);
}

void vma_zap(struct vma *vma, u64 start, u64 end)
{
	lockdep_assert_held(&vma->mm->lock);
	for (u64 next; start < end; start = next, cond_resched())
		zap_entries(vma, start, next = min(start + GB(64), end), ZAP_COPIES_TOO);
}

void vma_zap_mapped(struct vma *vma, u64 start, u64 end, enum zapped what)
{
	lockdep_assert_held(&vma->mapping->vma_lock);
	zap_entries(vma, start, end, what);
}

/* ---- making and giving up -------------------------------------------------------------------- */

/* A new one without areas, in other things as @parent. NULL: out of memory. */
static struct mm *mm_alloc(const struct mm *parent)
{
	struct mm *mm = kmalloc(sizeof(*mm), GFP_KERNEL);

	if (!mm)
		return NULL;
	memset(mm, 0, offsetof(struct mm, idle_tables));
	if (mmu_create(&mm->mmu)) {
		kfree(mm);
		return NULL;
	}
	atomic_set(&mm->users, 1);
	init_rwsem(&mm->lock, "mm->lock");
	spin_lock_init(&mm->page_table_lock, "mm->page_table_lock");
	INIT_LIST_HEAD(&mm->dead);
	mm->resident_pages = mm->file_pages = 0;
	memcpy(&mm->idle_tables, &parent->idle_tables,
	       offsetof(struct mm, page_table_lock) - offsetof(struct mm, idle_tables));
	if (mm->exe)
		mapped_files->get(mm->exe);
	return mm;
}

struct mm *mm_create(void)
{
	static const struct mm fresh = {.stack_top = USER_TOP, .mmap_top = USER_TOP - GB(1)};

	return mm_alloc(&fresh);
}

void mm_put(struct mm *mm)
{
	if (!atomic_dec_and_test(&mm->users))
		return;
	swap_mm_gone(mm);
	down_write(&mm->lock);
	vma_remove(mm, 0, USER_TOP);
	mm_write_unlock(mm);
	ASSERT(!mm->resident_pages && !mm->file_pages);
	mmu_destroy(&mm->mmu);
	if (mm->exe)
		mapped_files->put(mm->exe);
	kfree(mm);
}

/* ---- fork ------------------------------------------------------------------------------------ */

struct copy {
	struct mm *child;
	int error;
};

/* Share an anonymous page. */
static __always_inline void copy_entry(pte_t *from, u64 address, void *argument)
{
	struct copy *copy = argument;
	struct page *page = phys_to_page(pte_page(*from));

	if (!pte_is_swap(*from) && !test_bit(PG_anon, &page->flags))
		return;
	pte_t *to = mmu_slot(&copy->child->mmu, address, MMU_MAKE);
	if (unlikely(!to)) {
		copy->error = -ENOMEM;
		return;
	}
	if (swap_copy(copy->child, to, *from))
		return;
	*from = pte_write_protect(*from);
	get_page(page);
	*to = *from;
	copy->child->resident_pages++;
}

static int copy_entries(struct mm *child, struct mm *parent)
{
	struct copy copy = {.child = child};

	guard(spinlock, &parent->page_table_lock);
	spin_lock_nested(&child->page_table_lock, 1);
	for_each_area (vma, parent, 0, USER_TOP)
		if (vma->has_anonymous && !copy.error)
			visit_entries(parent, vma->start, vma->end, copy_entry, &copy);
	spin_unlock(&child->page_table_lock);
	mmu_flush(&parent->mmu, 0, USER_TOP);
	return copy.error;
}

struct mm *mm_fork(struct mm *parent)
{
	/* Tables are taken under a lock, where nobody waits for memory: room for the most that it
	 * can be comes first. */
	u64 most = READ_ONCE(parent->mmu.table_count);

	if (page_alloc_free_pages() < most)
		reclaim_pages(most);
	down_write(&parent->lock);
	struct mm *child = mm_alloc(parent);
	int error = child ? areas_copy(child, parent) : -ENOMEM;
	if (!error)
		error = copy_entries(child, parent);
	if (!error)
		swap_mm_add(child);
	up_write(&parent->lock);
	if (error && child)
		mm_put(child);
	return error ? NULL : child;
}
