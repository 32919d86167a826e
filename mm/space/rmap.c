/*
 * rmap.c - from the pages of a file to the page-table entries that map them, through the areas on
 * mapping->vmas. Declared in page_cache.h. Anonymous pages have no such way: they stay where they
 * are, or swap goes through the address spaces (mm/swap/out.c).
 *
 * mapping->vma_lock keeps the areas, their bounds, and their address spaces' page tables.
 */
#include "mm/space/vm_internal.h"

void mm_unmap_file(struct address_space *mapping, pgoff_t first, pgoff_t last, enum zapped what)
{
	struct vma *vma;

	guard(spinlock, &mapping->vma_lock);
	list_for_each_entry (vma, &mapping->vmas, link) {
		pgoff_t low = max(first, vma->page_offset);
		pgoff_t behind = min(last + 1, vma_page_index(vma, vma->end));
		u64 start = vma->start + ((low - vma->page_offset) << PAGE_SHIFT);

		if (low < behind)
			vma_zap_mapped(vma, start, start + ((behind - low) << PAGE_SHIFT), what);
	}
}

void mm_protect_page(struct page *page)
{
	struct address_space *mapping = page->mapping;
	struct vma *vma;

	assert_page_locked(page);
	if (!atomic_read(&page->mapcount))
		return;
	guard(spinlock, &mapping->vma_lock);
	list_for_each_entry (vma, &mapping->vmas, link) {
		u64 address = vma->start + ((page->index - vma->page_offset) << PAGE_SHIFT);

		if (!(vma->flags & VM_SHARED) || page->index < vma->page_offset ||
		    address >= vma->end)
			continue;
		guard(spinlock, &vma->mm->page_table_lock);
		pte_t *slot = mmu_slot(&vma->mm->mmu, address, MMU_FIND);
		if (slot && pte_write(*slot)) {
			*slot = pte_write_protect(*slot);
			mmu_flush(&vma->mm->mmu, address, address + PAGE_SIZE);
		}
	}
}
