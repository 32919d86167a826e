/*
 * mm.c - address spaces as a whole: making, forking, giving up, and clearing entries. Declared in
 * vm.h.
 *
 * Fork copies the entries of anonymous pages only, write-protected on both sides; pages of files
 * are found again in the page cache, several at a fault. An entry is cleared first, then the CPUs
 * forget it, then the page loses its reference: so a frame never has another owner while some CPU
 * can still write to it.
 */
#include "mm/vm_internal.h"

#define ZAP_BATCH 64

static struct kmem_cache *mm_cache;

/* ---- clearing entries ------------------------------------------------------------------------ */

/* Pages whose entries have been cleared, until the translations are forgotten. */
struct zap {
	struct mm *mm;
	u64 start, end; /* of the entries */
	bool exiting;	/* no CPU runs programs in it any more: nothing to forget */
	bool shared;	/* the area's pages are written through */
	unsigned count;
	struct page *pages[ZAP_BATCH];
};

static void zap_finish(struct zap *zap)
{
	mmu_flush(&zap->mm->mmu, zap->start, zap->end);
	for (unsigned i = 0; i < zap->count; i++)
		put_page(zap->pages[i]);
	zap->count = 0;
}

static __always_inline void zap_entry(pte_t *slot, u64 address, void *argument)
{
	struct zap *zap = argument;
	pte_t pte = xchg(slot, 0);
	struct page *page = phys_to_page(pte_page(pte));

	zap->mm->resident_pages--;
	if (!test_bit(PG_anon, &page->flags)) {
		zap->mm->file_pages--;
		if (zap->shared && pte_dirty(pte))
			note_dirty_entry(page);
		page_unmapped(page);
	}
	if (zap->exiting) {
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

static void zap_area(struct vma *vma, u64 start, u64 end, bool exiting)
{
	struct zap zap;

	zap.mm = vma->mm;
	zap.exiting = exiting;
	zap.shared = vma->flags & VM_SHARED;
	zap.count = 0;
	spin_lock(&zap.mm->page_table_lock);
	visit_entries(zap.mm, start, end, zap_entry, &zap);
	if (zap.count)
		zap_finish(&zap);
	spin_unlock(&zap.mm->page_table_lock);
}

void vma_zap(struct vma *vma, u64 start, u64 end)
{
	zap_area(vma, start, end, false);
}

/* ---- making and giving up -------------------------------------------------------------------- */

static struct mm *mm_alloc(void)
{
	struct mm *mm = kmem_cache_alloc(mm_cache, GFP_KERNEL);

	if (!mm)
		return NULL;
	memset(mm, 0, offsetof(struct mm, idle_tables));
	if (mmu_create(&mm->mmu)) {
		kmem_cache_free(mm_cache, mm);
		return NULL;
	}
	atomic_set(&mm->users, 1);
	init_rwsem(&mm->lock, "mm->lock");
	spin_lock_init(&mm->page_table_lock, "mm->page_table_lock");
	INIT_LIST_HEAD(&mm->vmas);
	INIT_LIST_HEAD(&mm->dead);
	mm->resident_pages = mm->file_pages = 0;
	return mm;
}

struct mm *mm_create(void)
{
	struct mm *mm = mm_alloc();

	if (!mm)
		return NULL;
	memset(&mm->idle_tables, 0,
	       offsetof(struct mm, page_table_lock) - offsetof(struct mm, idle_tables));
	mm->stack_top = USER_TOP;
	mm->mmap_top = USER_TOP - GB(1);
	return mm;
}

void mm_get(struct mm *mm)
{
	atomic_inc(&mm->users);
}

void mm_put(struct mm *mm)
{
	struct vma *vma, *next;

	if (!atomic_dec_and_test(&mm->users))
		return;
	list_for_each_entry_safe(vma, next, &mm->vmas, link) {
		zap_area(vma, vma->start, vma->end, true);
		lock_area_mapping(vma);
		if (vma->mapping)
			list_del(&vma->mapping_link);
		unlock_area_mapping(vma);
		vma_free(vma);
	}
	ASSERT(!mm->resident_pages && !mm->file_pages);
	mmu_destroy(&mm->mmu);
	if (mm->exe)
		fput(mm->exe);
	kmem_cache_free(mm_cache, mm);
}

void mm_activate(struct mm *mm)
{
	mmu_switch(&mm->mmu);
}

/* ---- fork ------------------------------------------------------------------------------------ */

struct copy {
	struct mm *child;
	bool protected;
	int error;
};

/* Share an anonymous page. */
static __always_inline void copy_entry(pte_t *from, u64 address, void *argument)
{
	struct copy *copy = argument;
	struct page *page = phys_to_page(pte_page(*from));
	pte_t *to;

	if (!test_bit(PG_anon, &page->flags))
		return;
	to = mmu_slot(&copy->child->mmu, address, true);
	if (unlikely(!to)) {
		copy->error = -ENOMEM;
		return;
	}
	if (pte_write(*from)) {
		*from = pte_write_protect(*from);
		copy->protected = true;
	}
	get_page(page);
	*to = *from;
	copy->child->resident_pages++;
}

static int copy_entries(struct mm *child, struct mm *parent)
{
	struct copy copy = {.child = child};
	const struct vma *vma;

	spin_lock(&parent->page_table_lock);
	spin_lock_nested(&child->page_table_lock, 1);
	list_for_each_entry(vma, &child->vmas, link) {
		if (vma->has_anonymous && !copy.error)
			visit_entries(parent, vma->start, vma->end, copy_entry, &copy);
	}
	spin_unlock(&child->page_table_lock);
	if (copy.protected)
		mmu_flush(&parent->mmu, 0, USER_TOP);
	spin_unlock(&parent->page_table_lock);
	return copy.error;
}

struct mm *mm_fork(struct mm *parent)
{
	struct mm *child = mm_alloc();
	int error;

	if (!child)
		return NULL;
	down_write(&parent->lock);
	memcpy(&child->idle_tables, &parent->idle_tables,
	       offsetof(struct mm, page_table_lock) - offsetof(struct mm, idle_tables));
	if (child->exe)
		get_file(child->exe);
	error = vmas_fork(child, parent);
	if (!error)
		error = copy_entries(child, parent);
	up_write(&parent->lock);
	if (error) {
		mm_put(child);
		return NULL;
	}
	return child;
}

void vm_init(void)
{
	mm_cache = kmem_cache_create("mm", sizeof(struct mm), 64, 0, NULL);
	vma_init();
}
