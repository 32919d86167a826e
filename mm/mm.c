/*
 * mm.c - address spaces as a whole: making, forking, giving up, and clearing entries. Declared in
 * vm.h.
 *
 * Fork copies the entries of anonymous pages only, write-protected on both sides; pages of files
 * are found again in the page cache, several at a fault. An entry is cleared first, then the CPUs
 * forget it, then the page loses its reference: so a frame never has another owner while some CPU
 * can still write to it.
 */
#include "mm/slab.h"
#include "mm/vm_internal.h"

#define ZAP_BATCH 64
#define STACK_LIMIT MB(8)

static struct kmem_cache *mm_cache;

/* ---- clearing entries ------------------------------------------------------------------------ */

/* Pages whose entries have been cleared, until the translations are forgotten. */
struct zap {
	struct mm *mm;
	u64 start, end; /* of the entries */
	bool exiting;	/* no CPU runs programs in it any more: nothing to forget */
	unsigned count;
	u64 entries, files; /* cleared; of them, of pages of the cache */
	struct page *pages[ZAP_BATCH];
};

static void zap_finish(struct zap *zap)
{
	if (!zap->exiting && zap->count)
		mmu_flush(&zap->mm->mmu, zap->start, zap->end);
	for (unsigned i = 0; i < zap->count; i++)
		put_page(zap->pages[i]);
	zap->count = 0;
}

/* The entry @pte at @address has been taken out. */
static __always_inline void zap_entry(struct zap *zap, pte_t pte, u64 address, bool shared)
{
	struct page *page = phys_to_page(pte_page(pte));

	zap->entries++;
	if (!test_bit(PG_anon, &page->flags)) {
		zap->files++;
		if (shared && pte_dirty(pte))
			note_dirty_entry(page);
		atomic_dec(&page->mapcount);
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

/* The page-table lock is held. */
static void zap_area(struct zap *zap, const struct vma *vma, u64 start, u64 end)
{
	bool shared = vma->flags & VM_SHARED;
	u64 address = start, next;

	for (; address < end; address = next) {
		pte_t *slot = mmu_slot(&zap->mm->mmu, address, false);

		next = min(round_down(address, MMU_SLOTS_SPAN) + MMU_SLOTS_SPAN, end);
		if (!slot)
			continue;
		for (; address < next; address += PAGE_SIZE, slot++)
			if (*slot)
				zap_entry(zap, xchg(slot, 0), address, shared);
	}
}

/* The page-table lock is held: the counts of what is gone. */
static void zap_account(struct zap *zap)
{
	zap->mm->resident_pages -= zap->entries;
	zap->mm->file_pages -= zap->files;
}

void vma_zap(struct vma *vma, u64 start, u64 end)
{
	struct zap zap;

	zap.mm = vma->mm;
	zap.exiting = false;
	zap.count = 0;
	zap.entries = zap.files = 0;
	spin_lock(&vma->mm->page_table_lock);
	zap_area(&zap, vma, start, end);
	zap_account(&zap);
	zap_finish(&zap);
	spin_unlock(&vma->mm->page_table_lock);
}

/* ---- making and giving up -------------------------------------------------------------------- */

static struct mm *mm_alloc(void)
{
	struct mm *mm = kmem_cache_alloc(mm_cache, GFP_KERNEL);

	if (!mm)
		return NULL;
	if (mmu_create(&mm->mmu)) {
		kmem_cache_free(mm_cache, mm);
		return NULL;
	}
	atomic_set(&mm->users, 1);
	init_rwsem(&mm->lock, "mm->lock");
	spin_lock_init(&mm->page_table_lock, "mm->page_table_lock");
	INIT_LIST_HEAD(&mm->vmas);
	mm->resident_pages = mm->file_pages = 0;
	return mm;
}

struct mm *mm_create(void)
{
	struct mm *mm = mm_alloc();

	if (!mm)
		return NULL;
	memset(&mm->last_hit, 0,
	       offsetof(struct mm, page_table_lock) - offsetof(struct mm, last_hit));
	mm->stack_limit = STACK_LIMIT;
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
	struct zap zap;

	if (!atomic_dec_and_test(&mm->users))
		return;
	zap.mm = mm;
	zap.exiting = true;
	zap.count = 0;
	zap.entries = zap.files = 0;
	list_for_each_entry_safe(vma, next, &mm->vmas, link) {
		spin_lock(&mm->page_table_lock);
		zap_area(&zap, vma, vma->start, vma->end);
		spin_unlock(&mm->page_table_lock);
		if (vma->mapping) {
			spin_lock(&vma->mapping->vma_lock);
			list_del(&vma->mapping_link);
			spin_unlock(&vma->mapping->vma_lock);
		}
		vma_free(vma);
	}
	zap_account(&zap);
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

/* Share the anonymous pages of [address, end), which one table covers. 0 or -ENOMEM. */
static int copy_table(struct mm *child, pte_t *from, u64 address, u64 end, bool *protected)
{
	u64 copied = 0;
	pte_t *to = NULL;

	for (; address < end; address += PAGE_SIZE, from++, to += !!to) {
		struct page *page;

		if (!*from)
			continue;
		page = phys_to_page(pte_page(*from));
		if (!test_bit(PG_anon, &page->flags))
			continue;
		if (!to) {
			to = mmu_slot(&child->mmu, address, true);
			if (!to)
				return -ENOMEM;
		}
		if (pte_write(*from)) {
			*from = pte_write_protect(*from);
			*protected = true;
		}
		get_page(page);
		*to = *from;
		copied++;
	}
	child->resident_pages += copied;
	return 0;
}

/* Both page-table locks are held. */
static int copy_area(struct mm *child, struct mm *parent, const struct vma *vma, bool *protected)
{
	int error = 0;

	for (u64 address = vma->start, next; address < vma->end && !error; address = next) {
		pte_t *from = mmu_slot(&parent->mmu, address, false);

		next = min(round_down(address, MMU_SLOTS_SPAN) + MMU_SLOTS_SPAN, vma->end);
		if (from)
			error = copy_table(child, from, address, next, protected);
	}
	return error;
}

static int copy_areas(struct mm *child, struct mm *parent)
{
	const struct vma *vma;

	list_for_each_entry(vma, &parent->vmas, link) {
		struct vma *copy = vma_copy(child, vma);

		if (!copy)
			return -ENOMEM;
		copy->flags &= ~VM_LOCKED; /* is not inherited */
		list_add_tail(&copy->link, &child->vmas);
		if (!copy->mapping)
			continue;
		spin_lock(&copy->mapping->vma_lock);
		list_add(&copy->mapping_link, &copy->mapping->vmas);
		spin_unlock(&copy->mapping->vma_lock);
	}
	return 0;
}

static int copy_entries(struct mm *child, struct mm *parent)
{
	const struct vma *vma;
	bool protected = false;
	int error = 0;

	spin_lock(&parent->page_table_lock);
	spin_lock_nested(&child->page_table_lock, 1);
	list_for_each_entry(vma, &parent->vmas, link) {
		if (vma->has_anonymous && !error)
			error = copy_area(child, parent, vma, &protected);
	}
	spin_unlock(&child->page_table_lock);
	if (protected)
		mmu_flush(&parent->mmu, 0, USER_TOP);
	spin_unlock(&parent->page_table_lock);
	return error;
}

struct mm *mm_fork(struct mm *parent)
{
	struct mm *child = mm_alloc();
	int error;

	if (!child)
		return NULL;
	down_write(&parent->lock);
	memcpy(&child->last_hit, &parent->last_hit,
	       offsetof(struct mm, page_table_lock) - offsetof(struct mm, last_hit));
	child->last_hit = NULL;
	if (child->exe)
		get_file(child->exe);
	error = copy_areas(child, parent);
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
