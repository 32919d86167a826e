/*
 * remap.c - mremap(2): areas grow, shrink and move with the pages they have. Declared in vm.h.
 */
#include "mm/mman.h"
#include "mm/vm_internal.h"

struct remap {
	struct mm *mm;
	u64 address, old_length, new_length, new_address;
	unsigned flags;
	struct list_head dead;
};

/* Make the tables that [start, end) needs, so that moving entries there cannot fail. 0 or -ENOMEM.
 */
static int make_tables(struct mm *mm, u64 start, u64 end)
{
	for (u64 address = round_down(start, MMU_SLOTS_SPAN); address < end;
	     address += MMU_SLOTS_SPAN) {
		pte_t *slot;

		spin_lock(&mm->page_table_lock);
		slot = mmu_slot(&mm->mmu, address, true);
		spin_unlock(&mm->page_table_lock);
		if (!slot)
			return -ENOMEM;
	}
	return 0;
}

/* The entries of [from, from + length) go to @to, where there are none. The area's mapping is
 * locked. */
static void move_entries(struct mm *mm, u64 from, u64 to, u64 length)
{
	spin_lock(&mm->page_table_lock);
	for (u64 done = 0, next; done < length; done = next) {
		pte_t *source = mmu_slot(&mm->mmu, from + done, false), *target;
		u64 span = min(MMU_SLOTS_SPAN - (from + done) % MMU_SLOTS_SPAN,
			       MMU_SLOTS_SPAN - (to + done) % MMU_SLOTS_SPAN);

		next = min(done + span, length);
		if (!source)
			continue;
		target = mmu_slot(&mm->mmu, to + done, false);
		for (; done < next; done += PAGE_SIZE, source++, target++)
			if (*source)
				*target = xchg(source, 0);
	}
	mmu_flush(&mm->mmu, from, from + length);
	spin_unlock(&mm->page_table_lock);
}

/* Make the old range an area of its own, so that removing it cannot fail. NULL: out of memory. */
static struct vma *isolate(struct remap *remap, struct vma *vma)
{
	u64 end = remap->address + remap->old_length;

	if (!remap->old_length || remap->flags & MREMAP_DONTUNMAP)
		return vma;
	if (vma->start < remap->address) {
		if (vma_split(vma, remap->address))
			return NULL;
		vma = vma_next(vma);
	}
	if (vma->end > end && vma_split(vma, end)) {
		vma_merge(vma, &remap->dead);
		return NULL;
	}
	return vma;
}

/* A new area at @to that shows what @vma shows from remap->address on, with the pages that are
 * there. */
static s64 move_to(struct remap *remap, struct vma *vma, u64 to)
{
	struct mm *mm = remap->mm;
	u64 kept = min(remap->old_length, remap->new_length);
	struct vma *copy;
	int error;

	if (mm->vma_count + 3 > AREAS_MAX)
		return -ENOMEM;
	vma = isolate(remap, vma);
	if (!vma)
		return -ENOMEM;
	error = make_tables(mm, to, to + kept);
	copy = error ? NULL : vma_copy(mm, vma);
	if (!copy) {
		vma_merge(vma, &remap->dead);
		return -ENOMEM;
	}
	if (vma->mapping)
		copy->page_offset = vma_page_index(vma, remap->address);
	copy->start = to;
	copy->end = to + remap->new_length;
	vma_insert(copy);
	lock_area_mapping(vma);
	move_entries(mm, remap->address, to, kept);
	unlock_area_mapping(vma);
	if (remap->old_length && !(remap->flags & MREMAP_DONTUNMAP))
		unmap_range(mm, remap->address, remap->address + remap->old_length, &remap->dead);
	vma_merge(copy, &remap->dead);
	return (s64)to;
}

static s64 remap_fixed(struct remap *remap, struct vma *vma)
{
	u64 to = remap->new_address;
	int error;

	if (to & (PAGE_SIZE - 1) || pages_overflow(to, remap->new_length) || to < LOWEST_ADDRESS)
		return -EINVAL;
	if (to < remap->address + remap->old_length && remap->address < to + remap->new_length)
		return -EINVAL;
	error = unmap_range(remap->mm, to, to + remap->new_length, &remap->dead);
	if (error)
		return error;
	vma = find_vma(remap->mm, remap->address); /* it may have been split */
	return move_to(remap, vma, to);
}

static s64 remap_grow(struct remap *remap, struct vma *vma)
{
	u64 old_end = remap->address + remap->old_length,
	    new_end = remap->address + remap->new_length, to;

	if (vma->flags & VM_WRITE && !vma->mapping &&
	    !may_commit((remap->new_length - remap->old_length) >> PAGE_SHIFT))
		return -ENOMEM;
	if (old_end == vma->end && !(remap->flags & MREMAP_DONTUNMAP) &&
	    !pages_overflow(remap->address, remap->new_length) &&
	    range_is_free(remap->mm, old_end, new_end)) {
		vma_set_bounds(vma, vma->start, new_end);
		vma_merge(vma, &remap->dead);
		return (s64)remap->address;
	}
	if (!(remap->flags & MREMAP_MAYMOVE))
		return -ENOMEM;
	to = find_free_range(remap->mm, remap->new_length, false);
	return to ? move_to(remap, vma, to) : -ENOMEM;
}

/* mm->lock is held for writing. */
static s64 remap_locked(struct remap *remap)
{
	struct vma *vma = find_vma(remap->mm, remap->address);
	u64 end;

	if (!vma || vma->start > remap->address)
		return -EFAULT;
	if (!remap->old_length && !(vma->flags & VM_SHARED)) /* a second view of what is shared */
		return -EINVAL;
	if (remap->flags & MREMAP_DONTUNMAP && vma->mapping && vma->flags & VM_SHARED)
		return -EINVAL;
	if (remap->old_length > vma->end - remap->address)
		return -EFAULT;
	if (remap->flags & MREMAP_FIXED)
		return remap_fixed(remap, vma);
	if (remap->new_length > remap->old_length || remap->flags & MREMAP_DONTUNMAP)
		return remap_grow(remap, vma);
	end = remap->address + remap->old_length;
	if (remap->new_length < remap->old_length) {
		int error = unmap_range(remap->mm, remap->address + remap->new_length, end,
					&remap->dead);

		if (error)
			return error;
	}
	return (s64)remap->address;
}

s64 mm_remap(struct mm *mm, u64 address, u64 old_length, u64 new_length, unsigned flags,
	     u64 new_address)
{
	struct remap remap = {
		mm,    address, page_round_up(old_length), page_round_up(new_length), new_address,
		flags, {0}};
	s64 result;

	if (flags & ~(unsigned)(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP) ||
	    (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) && !(flags & MREMAP_MAYMOVE)))
		return -EINVAL;
	if (address & (PAGE_SIZE - 1) || !remap.new_length || remap.new_length > USER_TOP ||
	    (flags & MREMAP_DONTUNMAP && remap.old_length != remap.new_length))
		return -EINVAL;
	INIT_LIST_HEAD(&remap.dead);
	down_write(&mm->lock);
	result = remap_locked(&remap);
	up_write(&mm->lock);
	vmas_free(&remap.dead);
	return result;
}
