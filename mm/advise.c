/*
 * advise.c - madvise(2), mincore(2) and msync(2). Declared in vm.h.
 */
#include "kernel/core/sched.h"
#include "mm/mman.h"
#include "mm/vm_internal.h"

/* ---- madvise --------------------------------------------------------------------------------- */

/* 0, or -EINVAL for what is not known. Advice about the order of use is taken by doing nothing:
 * read-ahead sees it. */
static int check_advice(unsigned advice)
{
	switch (advice) {
	case MADV_NORMAL:
	case MADV_RANDOM:
	case MADV_SEQUENTIAL:
	case MADV_WILLNEED:
	case MADV_DONTNEED:
	case MADV_FREE:
	case MADV_DONTDUMP:
	case MADV_DODUMP:
		return 0;
	}
	return -EINVAL;
}

static int advise_area(struct vma *vma, u64 start, u64 end, unsigned advice)
{
	switch (advice) {
	case MADV_FREE: /* at once: what is read then is either old or zero, here always zero */
		if (vma->mapping)
			return -EINVAL;
		vma_zap(vma, start, end);
		break;
	case MADV_DONTNEED:
		vma_zap(vma, start, end);
		break;
	case MADV_WILLNEED:
		if (vma->file)
			page_cache_readahead(vma->file, vma->mapping, vma_page_index(vma, start),
					     (end - start) >> PAGE_SHIFT);
		break;
	}
	return 0;
}

int mm_advise(struct mm *mm, u64 address, u64 length, unsigned advice)
{
	u64 end = address + page_round_up(length), next;
	int error = check_advice(advice);
	bool hole = false;
	struct vma *vma;

	if (error || address & (PAGE_SIZE - 1) || (length && end <= address))
		return -EINVAL;
	down_read(&mm->lock);
	for (vma = find_vma(mm, address); address < end && !error;
	     address = next, vma = vma_next(vma)) {
		if (!vma) {
			hole = true;
			break;
		}
		hole |= vma->start > address;
		next = min(end, vma->end);
		if (vma->start < end)
			error = advise_area(vma, max(address, vma->start), next, advice);
	}
	up_read(&mm->lock);
	return error ? error : hole ? -ENOMEM : 0;
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
	struct vma *vma = NULL;
	unsigned i;

	down_read(&mm->lock);
	for (i = 0; i < pages; i++, address += PAGE_SIZE) {
		if (!vma || address >= vma->end)
			vma = find_vma(mm, address);
		if (!vma || address < vma->start)
			break;
		resident[i] = page_resident(vma, address);
	}
	up_read(&mm->lock);
	return i == pages ? 0 : -ENOMEM;
}

/* ---- msync ----------------------------------------------------------------------------------- */

/* The first area that ends behind *@address: its file if it is shared, with a reference. Moves
 * *@address to the area's end. False: no area, or a hole before it (*@hole). */
static bool next_shared_file(struct mm *mm, u64 *address, u64 end, struct file **file, bool *hole)
{
	const struct vma *vma;

	*file = NULL;
	down_read(&mm->lock);
	vma = find_vma(mm, *address);
	if (!vma || vma->start > *address)
		*hole = true;
	if (vma && vma->start < end) {
		*address = vma->end;
		if (vma->file && vma->flags & VM_SHARED) {
			get_file(vma->file);
			*file = vma->file;
		}
	} else {
		vma = NULL;
	}
	up_read(&mm->lock);
	return vma;
}

int mm_sync(struct mm *mm, u64 address, u64 length, unsigned flags)
{
	u64 end = address + page_round_up(length);
	bool hole = false;
	struct file *file;
	int error = 0;

	if (flags & ~(unsigned)(MS_ASYNC | MS_INVALIDATE | MS_SYNC) ||
	    (flags & MS_ASYNC && flags & MS_SYNC) || address & (PAGE_SIZE - 1))
		return -EINVAL;
	if (end < address)
		return -ENOMEM;
	while (address < end && !error && next_shared_file(mm, &address, end, &file, &hole)) {
		if (!file)
			continue;
		if (flags & MS_SYNC)
			error = vfs_fsync(file, true);
		fput(file);
	}
	return error ? error : hole ? -ENOMEM : 0;
}
