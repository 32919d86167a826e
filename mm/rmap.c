/*
 * rmap.c - from the pages of a file to the page-table entries that map them, through the areas on
 * mapping->vmas. Declared in page_cache.h. Anonymous pages need no such way: they stay where they
 * are.
 *
 * mapping->vma_lock keeps the areas, their bounds, and their address spaces' page tables.
 */
#include "mm/page_cache.h"
#include "mm/vm_internal.h"

/* Where @vma shows page @index, which it does: an address. */
static u64 index_address(const struct vma *vma, pgoff_t index)
{
	return vma->start + ((index - vma->page_offset) << PAGE_SHIFT);
}

void mm_unmap_file(struct address_space *mapping, pgoff_t first)
{
	struct vma *vma;

	spin_lock(&mapping->vma_lock);
	list_for_each_entry(vma, &mapping->vmas, mapping_link) {
		if (vma_page_index(vma, vma->end) > first)
			vma_zap(vma, index_address(vma, max(first, vma->page_offset)), vma->end);
	}
	spin_unlock(&mapping->vma_lock);
}

/* Clean the entries of [start, end); were there any that could be written through? */
static bool clean_entries(struct mm *mm, u64 start, u64 end)
{
	bool changed = false;

	for (u64 address = start, next; address < end; address = next) {
		pte_t *slot = mmu_slot(&mm->mmu, address, false);

		next = min(round_down(address, MMU_SLOTS_SPAN) + MMU_SLOTS_SPAN, end);
		if (!slot)
			continue;
		for (; address < next; address += PAGE_SIZE, slot++) {
			pte_t pte;

			if (!pte_write(*slot) && !pte_dirty(*slot))
				continue;
			pte = xchg(slot, 0);
			*slot = pte_mkclean(pte_write_protect(pte));
			if (pte_dirty(pte))
				note_dirty_entry(phys_to_page(pte_page(pte)));
			changed = true;
		}
	}
	return changed;
}

void mm_clean_file(struct address_space *mapping, pgoff_t first, pgoff_t last)
{
	struct vma *vma;

	spin_lock(&mapping->vma_lock);
	list_for_each_entry(vma, &mapping->vmas, mapping_link) {
		pgoff_t end = vma_page_index(vma, vma->end);
		u64 from, to;

		if (!(vma->flags & VM_SHARED) || first >= end || last < vma->page_offset)
			continue;
		from = index_address(vma, max(first, vma->page_offset));
		to = last < end - 1 ? index_address(vma, last + 1) : vma->end;
		spin_lock(&vma->mm->page_table_lock);
		if (clean_entries(vma->mm, from, to))
			mmu_flush(&vma->mm->mmu, from, to);
		spin_unlock(&vma->mm->page_table_lock);
	}
	spin_unlock(&mapping->vma_lock);
}

/* The slot by which @vma maps @page, or NULL. The page-table lock is held. */
static pte_t *slot_of(const struct vma *vma, const struct page *page)
{
	pte_t *slot;

	if (page->index < vma->page_offset || page->index >= vma_page_index(vma, vma->end))
		return NULL;
	slot = mmu_slot(&vma->mm->mmu, index_address(vma, page->index), false);
	return slot && pte_present(*slot) && pte_page(*slot) == page_to_phys(page) ? slot : NULL;
}

/* Was the page accessed through this entry since we last looked? */
static bool entry_accessed(const pte_t *slot)
{
	pte_t old = *slot;

	if (!pte_accessed(old))
		return false;
	/* the processor may set dirty meanwhile: then leave it */
	cmpxchg((pte_t *)slot, old, pte_mkold(old));
	return true;
}

/* ... or must the page stay where it is? */
static bool page_accessed(const struct page *page)
{
	struct vma *vma;
	bool accessed = false;

	list_for_each_entry(vma, &page->mapping->vmas, mapping_link) {
		pte_t *slot;

		spin_lock(&vma->mm->page_table_lock);
		slot = slot_of(vma, page);
		if (slot && (entry_accessed(slot) || vma->flags & VM_LOCKED))
			accessed = true;
		spin_unlock(&vma->mm->page_table_lock);
	}
	return accessed;
}

bool mm_unmap_page(struct page *page)
{
	struct address_space *mapping = page->mapping;
	struct vma *vma;

	if (!spin_trylock(&mapping->vma_lock))
		return false;
	if (!page_accessed(page)) {
		list_for_each_entry(vma, &mapping->vmas, mapping_link) {
			if (page->index >= vma->page_offset &&
			    page->index < vma_page_index(vma, vma->end)) {
				u64 address = index_address(vma, page->index);
				pte_t *slot;

				spin_lock(&vma->mm->page_table_lock);
				slot = slot_of(vma, page);
				spin_unlock(&vma->mm->page_table_lock);
				if (slot)
					vma_zap(vma, address, address + PAGE_SIZE);
			}
		}
	}
	spin_unlock(&mapping->vma_lock);
	return !atomic_read(&page->mapcount);
}
