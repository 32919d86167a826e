/*
 * rmap.c - from the pages of a file to the page-table entries that map them, through the areas on
 * mapping->vmas. Declared in page_cache.h. Anonymous pages need no such way: they stay where they
 * are.
 *
 * mapping->vma_lock keeps the areas, their bounds, and their address spaces' page tables.
 */
#include "mm/vm_internal.h"

/* What @vma shows of the pages [first, last]: false if nothing, or the addresses. */
static bool shown(const struct vma *vma, pgoff_t first, pgoff_t last, u64 *start, u64 *end)
{
	pgoff_t behind = vma_page_index(vma, vma->end);

	if (first >= behind || last < vma->page_offset)
		return false;
	first = max(first, vma->page_offset);
	*start = vma->start + ((first - vma->page_offset) << PAGE_SHIFT);
	*end = last < behind - 1 ? *start + ((last - first + 1) << PAGE_SHIFT) : vma->end;
	return true;
}

void mm_unmap_file(struct address_space *mapping, pgoff_t first)
{
	struct vma *vma;
	u64 start, end;

	spin_lock(&mapping->vma_lock);
	list_for_each_entry (vma, &mapping->vmas, link)
		if (shown(vma, first, ~(pgoff_t)0, &start, &end))
			vma_zap(vma, start, end);
	spin_unlock(&mapping->vma_lock);
}

/* Clean the entry if it could be written through. */
static void clean_entry(pte_t *slot, u64 address, void *changed)
{
	pte_t pte;

	(void)address;
	if (!pte_write(*slot) && !pte_dirty(*slot))
		return;
	pte = xchg(slot, 0);
	*slot = pte_mkclean(pte_write_protect(pte));
	if (pte_dirty(pte))
		note_dirty_entry(phys_to_page(pte_page(pte)));
	*(bool *)changed = true;
}

void mm_clean_file(struct address_space *mapping, pgoff_t first, pgoff_t last)
{
	struct vma *vma;
	u64 start, end;

	spin_lock(&mapping->vma_lock);
	list_for_each_entry (vma, &mapping->vmas, link) {
		bool changed = false;

		if (!(vma->flags & VM_SHARED) || !shown(vma, first, last, &start, &end))
			continue;
		spin_lock(&vma->mm->page_table_lock);
		visit_entries(vma->mm, start, end, clean_entry, &changed);
		if (changed)
			mmu_flush(&vma->mm->mmu, start, end);
		spin_unlock(&vma->mm->page_table_lock);
	}
	spin_unlock(&mapping->vma_lock);
}

/* Does @vma map @page, where, and was it accessed through this entry since we last looked, or must
 * stay? */
static bool maps_page(const struct vma *vma, const struct page *page, u64 *address, bool *accessed)
{
	u64 end;
	pte_t *slot, old;

	if (!shown(vma, page->index, page->index, address, &end))
		return false;
	spin_lock(&vma->mm->page_table_lock);
	slot = mmu_slot(&vma->mm->mmu, *address, false);
	old = slot ? *slot : 0;
	if (pte_page(old) != page_to_phys(page))
		old = 0;
	if (old && pte_accessed(old)) {
		/* the processor may set dirty meanwhile: then leave it */
		try_cmpxchg(slot, &old, pte_mkold(old));
		*accessed = true;
	}
	spin_unlock(&vma->mm->page_table_lock);
	*accessed |= old && vma->flags & VM_LOCKED;
	return old;
}

bool mm_unmap_page(struct page *page)
{
	struct address_space *mapping = page->mapping;
	bool accessed = false;
	struct vma *vma;
	u64 address;

	if (!spin_trylock(&mapping->vma_lock))
		return false;
	list_for_each_entry (vma, &mapping->vmas, link)
		maps_page(vma, page, &address, &accessed);
	list_for_each_entry (vma, &mapping->vmas, link)
		if (!accessed && maps_page(vma, page, &address, &accessed))
			vma_zap(vma, address, address + PAGE_SIZE);
	spin_unlock(&mapping->vma_lock);
	return !atomic_read(&page->mapcount);
}
