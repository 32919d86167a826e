/*
 * advise.c - madvise(2), mincore(2) and msync(2). Declared in vm.h.
 */
#include "mm/mman.h"
#include "mm/vm_internal.h"

/* ---- madvise --------------------------------------------------------------------------------- */

static int advise_area(struct vma *vma, u64 start, u64 end, unsigned advice)
{
	if (advice == MADV_WILLNEED) {
		if (vma->file && vma->mapping)
			page_cache_readahead(vma->file, vma->mapping, vma_page_index(vma, start),
					     (end - start) >> PAGE_SHIFT);
		return 0;
	}
	if (vma->flags & VM_LOCKED || (advice == MADV_FREE && vma->mapping))
		return -EINVAL;
	/* also for MADV_FREE: what is read then is either old or zero, here always zero */
	vma_zap(vma, start, end);
	return 0;
}

static int advise_areas(struct mm *mm, u64 start, u64 end, unsigned advice)
{
	u64 last = mapped_end(mm, start, end);
	struct vma *vma;
	int error = 0;

	for_each_area(vma, mm, start, end) {
		if (!error)
			error = advise_area(vma, max(start, vma->start), min(end, vma->end),
					    advice);
	}
	return !error && last < end ? -ENOMEM : error;
}

/* What a fork does with the areas: 0 or -errno. */
static int advise_fork(struct mm *mm, u64 start, u64 end, unsigned mask, unsigned flags)
{
	const struct vma *vma;

	for_each_area(vma, mm, start, end) {
		if (flags & VM_WIPEONFORK && (vma->mapping || vma->file))
			return -EINVAL;
	}
	return change_flags(mm, start, end, mask, flags);
}

/* The bits of an area that an advice sets or clears. */
static const struct {
	u8 advice;
	unsigned mask, flags;
} fork_advice[] = {
	{MADV_DONTFORK, VM_DONTFORK, VM_DONTFORK},
	{MADV_DOFORK, VM_DONTFORK, 0},
	{MADV_WIPEONFORK, VM_WIPEONFORK, VM_WIPEONFORK},
	{MADV_KEEPONFORK, VM_WIPEONFORK, 0},
};

int mm_advise(struct mm *mm, u64 address, u64 length, unsigned advice)
{
	/* taken by doing nothing: read-ahead and reclaim see for themselves how memory is used */
	const u64 ignored = BIT(MADV_NORMAL) | BIT(MADV_RANDOM) | BIT(MADV_SEQUENTIAL) |
			    BIT(MADV_COLD) | BIT(MADV_DONTDUMP) | BIT(MADV_DODUMP);
	const u64 done = BIT(MADV_WILLNEED) | BIT(MADV_DONTNEED) | BIT(MADV_FREE);
	u64 end = address + page_round_up(length), bit = advice < 64 ? BIT(advice) : 0;
	int error = -EINVAL;

	if (address & (PAGE_SIZE - 1) || (length && end <= address))
		return -EINVAL;
	for (unsigned i = 0; i < ARRAY_SIZE(fork_advice); i++) {
		if (fork_advice[i].advice != advice)
			continue;
		down_write(&mm->lock);
		error = advise_fork(mm, address, end, fork_advice[i].mask, fork_advice[i].flags);
		mm_write_unlock(mm);
	}
	if (bit & (done | ignored)) {
		down_read(&mm->lock);
		if (bit & done)
			error = advise_areas(mm, address, end, advice);
		else
			error = mapped_end(mm, address, end) < end ? -ENOMEM : 0;
		up_read(&mm->lock);
	}
	return error;
}

/* ---- mincore --------------------------------------------------------------------------------- */

static bool page_resident(struct vma *vma, u64 address)
{
	struct mm *mm = vma->mm;
	struct page *page;
	pte_t *slot;
	bool present;

	spin_lock(&mm->page_table_lock);
	slot = mmu_slot(&mm->mmu, address, false);
	present = slot && pte_present(*slot);
	spin_unlock(&mm->page_table_lock);
	if (present || !vma->mapping)
		return present;
	page = find_get_page(vma->mapping, vma_page_index(vma, address));
	if (!page)
		return false;
	present = page_uptodate(page);
	put_page(page);
	return present;
}

int mm_resident(struct mm *mm, u64 address, unsigned pages, u8 *resident)
{
	u64 end = address + pages * PAGE_SIZE;
	bool whole;

	down_read(&mm->lock);
	whole = mapped_end(mm, address, end) == end;
	for (unsigned i = 0; whole && i < pages; i++, address += PAGE_SIZE)
		resident[i] = page_resident(find_vma(mm, address), address);
	up_read(&mm->lock);
	return whole ? 0 : -ENOMEM;
}

/* ---- msync ----------------------------------------------------------------------------------- */

int mm_sync(struct mm *mm, u64 address, u64 length, unsigned flags)
{
	u64 end = address + page_round_up(length);
	bool hole = false;
	int error = 0;

	if (flags & ~(unsigned)(MS_ASYNC | MS_INVALIDATE | MS_SYNC) ||
	    (flags & MS_ASYNC && flags & MS_SYNC) || address & (PAGE_SIZE - 1))
		return -EINVAL;
	if (end < address)
		return -ENOMEM;
	while (address < end && !error) {
		struct file *file = NULL;
		const struct vma *vma;

		down_read(&mm->lock);
		vma = find_vma(mm, address);
		hole |= !vma || vma->start > address;
		address = vma ? vma->end : end;
		if (vma && vma->start < end && vma->flags & VM_SHARED &&
		    !vma_shows_shared_memory(vma))
			file = vma->file;
		if (file)
			get_file(file);
		up_read(&mm->lock);
		if (file && flags & MS_SYNC)
			error = vfs_fsync(file, true);
		if (file)
			fput(file);
	}
	return error ? error : hole ? -ENOMEM : 0;
}
