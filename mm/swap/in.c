/*
 * in.c - entries of page tables that are swap entries: faults on them, and what forks, unmappings
 * and exits make of them. Declared in swap_hooks.h.
 *
 * A page that comes back is mapped for reading and stays in the swap cache, clean: if it is not
 * written to it can go again without a write. One that is written to, and that nobody else wants,
 * leaves the cache and gives its slot back; so does every one while swap is more than half full.
 */
#include "mm/space/vm_internal.h"
#include "mm/swap/swap.h"

/* ---- faults ---------------------------------------------------------------------------------- */

/* The locked @page, to which the caller has a reference, is about to be mapped in place of a swap
 * entry: take it out of the cache if nobody else has that entry, and it is to be so. Then may the
 * program write to it at once, since nobody else maps it either? */
static bool leave_cache(struct page *page, bool write)
{
	bool alone = atomic_read(&page->refcount) == 2; /* the cache's and ours */

	assert_page_locked(page);
	if (swap_count(page->index) != 2 || !((write && alone) || swap_is_short(page->index)))
		return false;
	remove_from_page_cache(page);
	return write && alone;
}

/* @page, locked and uptodate, takes the place of @pte. false: that has changed. */
static bool map_page(struct vma *vma, u64 address, pte_t pte, unsigned access, struct page *page)
{
	unsigned rights = vma_page_rights(vma) & ~(unsigned)MMU_WRITE;
	struct mm *mm = vma->mm;
	u64 entry = page->index;

	assert_page_locked(page);
	guard(spinlock, &mm->page_table_lock);
	pte_t *slot = mmu_slot(&mm->mmu, address, MMU_FIND);
	if (!slot || *slot != pte)
		return false;
	if (leave_cache(page, access & FAULT_WRITE))
		rights = MMU_READ | MMU_WRITE;
	get_page(page);
	*slot = pte_make(page_to_phys(page), rights);
	mm->resident_pages++;
	mm->swapped_pages--;
	swap_put(entry);
	return true;
}

int swap_bring_back(struct vma *vma, u64 address, pte_t pte, unsigned access)
{
	u64 entry = pte_to_swap(pte), before = current->major_faults;
	struct page *page = swap_cache_get(entry);
	int error = 0;

	lockdep_assert_held(&vma->mm->lock);
	if (IS_ERR_OR_NULL(page)) /* NULL: another thread was faster */
		return PTR_ERR_OR_ZERO(page);
	lock_page(page);
	if (page->mapping == &swap_space && page->index == entry) {
		if (likely(page_uptodate(page))) {
			map_page(vma, address, pte, access, page);
		} else { /* the next fault reads again; of one that was read ahead it is this one */
			remove_from_page_cache(page);
			if (current->major_faults != before)
				error = -EIO;
		}
	}
	unlock_page(page);
	put_page(page);
	return error;
}

int swap_in(struct vma *vma, u64 address, pte_t pte, unsigned access)
{
	u64 before = current->major_faults;
	int error = swap_bring_back(vma, address, pte, access);

	if (current->major_faults != before)
		current->minor_faults--;
	return error;
}

bool swap_reuse(struct page *page)
{
	bool alone;

	if (!test_bit(PG_cache, &page->flags))
		return false;
	lock_page(page);
	alone = page->mapping == &swap_space && swap_count(page->index) == 1 &&
		atomic_read(&page->refcount) == 3;
	if (alone)
		remove_from_page_cache(page);
	unlock_page(page);
	return alone;
}

/* ---- entries that go, and that are copied ---------------------------------------------------- */

void swap_zap(struct mm *mm, pte_t *slot, enum zapped what)
{
	u64 entry = pte_to_swap(*slot);

	lockdep_assert_held(&mm->page_table_lock);
	if (what == ZAP_FILE_PAGES)
		return;
	*slot = 0;
	mm->swapped_pages--;
	swap_put(entry);
	if (swap_count(entry) == 1) /* perhaps the cache alone */
		swap_cache_forget(entry, SWAP_TRY);
}

void swap_page_unmapped(struct page *page)
{
	if (!test_bit(PG_cache, &page->flags) || !trylock_page(page))
		return;
	if (page->mapping == &swap_space && swap_count(page->index) == 1 &&
	    atomic_read(&page->refcount) == 2)
		remove_from_page_cache(page);
	unlock_page(page);
}

bool swap_copy(struct mm *child, pte_t *to, pte_t pte)
{
	if (!pte_is_swap(pte))
		return false;
	lockdep_assert_held(&child->page_table_lock);
	swap_get(pte_to_swap(pte));
	*to = pte;
	child->swapped_pages++;
	return true;
}
