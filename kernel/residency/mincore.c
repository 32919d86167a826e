/*
 * mincore.c - mincore(2): which pages are in memory.
 */
#include "fs/inode/permission.h"
#include "kernel/proc/process.h"
#include "mm/cache/page_lookup.h"
#include "mm/space/vm.h"

#define SHOWN_MAX 256 /* pages at a time */

/* Who could not change the file is not told what others read of it: all of it, as in Linux. */
static bool may_know(const struct vma *vma)
{
	if (!vma->file)
		return true;
	struct inode *inode = vma->file->inode;
	return current->cred->euid == inode->uid || !inode_permission(inode, MAY_WRITE);
}

static bool is_resident(const struct vma *vma, u64 address)
{
	struct mm *mm = vma->mm;

	{
		guard(spinlock, &mm->page_table_lock);
		const pte_t *slot = mmu_slot(&mm->mmu, address, MMU_FIND);
		if (slot && *slot)
			return pte_present(*slot);
	}
	if (!vma->mapping)
		return false;
	pgoff_t index = vma->page_offset + ((address - vma->start) >> PAGE_SHIFT);
	struct page *page = page_lookup(vma->mapping, index);
	bool resident = page && page_uptodate(page);
	if (page)
		put_page(page);
	return resident;
}

/* Of the area at @address, up to @pages of them: how many, or -ENOMEM. */
static s64 show_resident(struct mm *mm, u64 address, u64 pages, u8 *shown)
{
	guard(read, &mm->lock);
	const struct vma *vma = find_vma(mm, address);
	if (!vma || vma->start > address)
		return -ENOMEM;
	bool known = may_know(vma);
	pages = min(pages, (vma->end - address) >> PAGE_SHIFT);
	for (u64 i = 0; i < pages; i++)
		shown[i] = !known || is_resident(vma, address + i * PAGE_SIZE);
	return (s64)pages;
}

s64 sys_mincore(u64 address, u64 length, void *vector)
{
	u8 shown[SHOWN_MAX], *to = vector;

	if (address & (PAGE_SIZE - 1))
		return -EINVAL;
	if (!access_ok((void *)address, length))
		return -ENOMEM;
	u64 pages = DIV_ROUND_UP(length, PAGE_SIZE);
	if (!access_ok(vector, pages))
		return -EFAULT;
	while (pages) {
		u64 wanted = min(pages, (u64)SHOWN_MAX);
		u64 n = (u64)TRY(show_resident(current->mm, address, wanted, shown));

		TRY(write_user(to, shown, n));
		to += n;
		address += n * PAGE_SIZE;
		pages -= n;
		cond_resched();
	}
	return 0;
}
