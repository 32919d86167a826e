/*
 * lock.c - areas whose pages stay in memory: VM_LOCKED. For mlock(2) and its relatives
 * (kernel/residency). Declared in swap.h.
 *
 * Only what an area is marked with is told here; who locks sees to it that the pages are there.
 */
#include "mm/space/vm_internal.h"
#include "mm/swap/swap.h"

int mm_set_locked(struct mm *mm, u64 start, u64 end, enum swap_locking locking)
{
	guard(mm_write, mm);
	struct vma *first = vma_carve(mm, start, end);
	int error = PTR_ERR_OR_ZERO(first);

	if (error)
		return error;
	for_each_area_from (vma, first, end) {
		unsigned flags = vma->flags & ~VM_LOCKED;

		if (locking == SWAP_LOCK)
			flags |= VM_LOCKED;
		vma_change(vma, vma->start, vma->end, flags);
	}
	vma_merge(mm, start, end);
	return 0;
}

u64 mm_locked_pages(const struct mm *mm)
{
	u64 pages = 0;

	lockdep_assert_held(&mm->lock);
	for_each_area (vma, mm, 0, USER_TOP)
		if (vma->flags & VM_LOCKED)
			pages += (vma->end - vma->start) >> PAGE_SHIFT;
	return pages;
}

bool swap_may_lock(const struct mm *mm, u64 pages, unsigned flags)
{
	return !(flags & VM_LOCKED) || mm_locked_pages(mm) + pages <= mm->locks_most;
}
