/*
 * remap.c - mremap(2): areas grow, shrink and move with the pages they have. Declared in vm.h.
 */
#include "mm/mman.h"
#include "mm/vm_internal.h"

/* Make the tables that [start, end) needs, so that moving entries there cannot fail. 0 or -ENOMEM.
 */
static int make_tables(struct mm *mm, u64 start, u64 end)
{
	const pte_t *slot = NULL;

	spin_lock(&mm->page_table_lock);
	for (u64 at = round_down(start, MMU_SLOTS_SPAN); at < end; at += MMU_SLOTS_SPAN) {
		slot = mmu_slot(&mm->mmu, at, true);
		if (!slot)
			break;
	}
	spin_unlock(&mm->page_table_lock);
	return slot || start == end ? 0 : -ENOMEM;
}

struct move {
	struct mm *mm;
	u64 distance;
};

static void move_entry(pte_t *slot, u64 address, void *argument)
{
	const struct move *move = argument;
	pte_t pte = xchg(slot, 0);

	*mmu_slot(&move->mm->mmu, address + move->distance, false) = pte;
}

/* A new area at @to that shows what @vma shows from @from on, with the pages that are there. */
static s64 move_area(struct mm *mm, u64 from, u64 old_length, u64 new_length, unsigned flags,
		     u64 to)
{
	u64 kept = min(old_length, new_length);
	struct move move = {mm, to - from};
	bool keep = !old_length || flags & MREMAP_DONTUNMAP;
	struct vma *vma, *copy;

	if (mm->vma_count + 3 > AREAS_MAX || (!keep && vma_carve(mm, from, from + old_length)))
		return -ENOMEM;
	vma = find_vma(mm, from);
	copy = make_tables(mm, to, to + kept) ? NULL : vma_copy(mm, vma);
	if (!copy)
		return -ENOMEM;
	if (vma->mapping)
		copy->page_offset = vma_page_index(vma, from);
	copy->start = to;
	copy->end = to + new_length;
	vma_insert(copy);
	lock_area_mapping(vma);
	spin_lock(&mm->page_table_lock);
	visit_entries(mm, from, from + kept, move_entry, &move);
	mmu_flush(&mm->mmu, from, from + kept);
	spin_unlock(&mm->page_table_lock);
	unlock_area_mapping(vma);
	if (!keep)
		unmap_range(mm, from, from + old_length);
	vma_merge(copy);
	return (s64)to;
}

/* mm->lock is held for writing. */
static s64 remap(struct mm *mm, u64 from, u64 old_length, u64 new_length, unsigned flags, u64 to)
{
	struct vma *vma = find_vma(mm, from);
	u64 old_end = from + old_length, more = new_length - min(old_length, new_length);
	bool dont_unmap = flags & MREMAP_DONTUNMAP;
	s64 result;

	if (!vma || vma->start > from)
		return -EFAULT;
	/* length 0 is a second view of what is shared */
	if ((!old_length && !(vma->flags & VM_SHARED)) ||
	    (dont_unmap && vma->mapping && vma->flags & VM_SHARED))
		return -EINVAL;
	if (!(flags & MREMAP_FIXED) && !dont_unmap && new_length <= old_length) /* over holes */
		return new_length < old_length && unmap_range(mm, from + new_length, old_end)
			       ? -ENOMEM
			       : (s64)from;
	if (old_length > vma->end - from)
		return -EFAULT;
	if (flags & MREMAP_FIXED) {
		if (to & (PAGE_SIZE - 1) || pages_overflow(to, new_length) || to < LOWEST_ADDRESS ||
		    (to < old_end && from < to + new_length))
			return -EINVAL;
		if (unmap_range(mm, to, to + new_length))
			return -ENOMEM;
	}
	if (new_length < old_length) {
		if (unmap_range(mm, from + new_length, old_end))
			return -ENOMEM;
		old_length = new_length;
	}
	vma = find_vma(mm, from); /* it may have been split */
	if (!may_expand(mm, dont_unmap ? new_length >> PAGE_SHIFT : more >> PAGE_SHIFT,
			vma->flags) ||
	    (is_data(vma->flags) && more >> PAGE_SHIFT > page_alloc_total_pages()))
		return -ENOMEM;
	if (flags & MREMAP_FIXED)
		return move_area(mm, from, old_length, new_length, flags, to);
	if (old_end == vma->end && !dont_unmap && !pages_overflow(from, new_length) &&
	    range_is_free(mm, old_end, from + new_length)) {
		vma_set_bounds(vma, vma->start, from + new_length);
		vma_merge(vma);
		return (s64)from;
	}
	if (!(flags & MREMAP_MAYMOVE))
		return -ENOMEM;
	result = find_free_range(mm, new_length, mm->mmap_top);
	return result < 0 ? result
			  : move_area(mm, from, old_length, new_length, flags, (u64)result);
}

s64 mm_remap(struct mm *mm, u64 address, u64 old_length, u64 new_length, unsigned flags,
	     u64 new_address)
{
	bool locked;
	s64 result;

	old_length = page_round_up(old_length);
	new_length = page_round_up(new_length);
	if (flags & ~(unsigned)(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP) ||
	    (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) && !(flags & MREMAP_MAYMOVE)) ||
	    address & (PAGE_SIZE - 1) || !new_length || new_length > USER_TOP ||
	    (flags & MREMAP_DONTUNMAP && old_length != new_length))
		return -EINVAL;
	down_write(&mm->lock);
	result = remap(mm, address, old_length, new_length, flags, new_address);
	locked = result > 0 && find_vma(mm, (u64)result)->flags & VM_LOCKED;
	mm_write_unlock(mm);
	if (locked)
		populate(mm, (u64)result, (u64)result + new_length, 0);
	return result;
}
