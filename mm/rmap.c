/*
 * rmap.c - from the pages of a file to the page-table entries that map them, through the areas on
 * mapping->vmas. Declared in page_cache.h. Anonymous pages need no such way: they stay where they
 * are.
 *
 * mapping->vma_lock keeps the areas, their bounds, and their address spaces' page tables.
 */
#include "mm/vm_internal.h"

void mm_unmap_file(struct address_space *mapping, pgoff_t first, pgoff_t last, bool copies)
{
	struct vma *vma;

	guard(spinlock, &mapping->vma_lock);
	list_for_each_entry (vma, &mapping->vmas, link) {
		pgoff_t low = max(first, vma->page_offset);
		pgoff_t behind = min(last + 1, vma_page_index(vma, vma->end));
		u64 start = vma->start + ((low - vma->page_offset) << PAGE_SHIFT);

		if (low < behind)
			vma_zap(vma, start, start + ((behind - low) << PAGE_SHIFT), copies);
	}
}

/* Clean the entry if it could be written through. */
static void clean_entry(pte_t *slot, u64 address, void *changed)
{
	(void)address;
	if (!pte_write(*slot) && !pte_dirty(*slot))
		return;
	pte_t pte = xchg(slot, 0);
	*slot = pte_mkclean(pte_write_protect(pte));
	if (pte_dirty(pte))
		note_dirty_entry(phys_to_page(pte_page(pte)));
	*(bool *)changed = true;
}

void mm_clean_file(struct address_space *mapping)
{
	struct vma *vma;

	guard(spinlock, &mapping->vma_lock);
	list_for_each_entry (vma, &mapping->vmas, link) {
		bool changed = false;

		if (!(vma->flags & VM_SHARED))
			continue;
		guard(spinlock, &vma->mm->page_table_lock);
		visit_entries(vma->mm, vma->start, vma->end, clean_entry, &changed);
		if (changed)
			mmu_flush(&vma->mm->mmu, vma->start, vma->end);
	}
}
