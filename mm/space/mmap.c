/*
 * mmap.c - the calls that change an address space: mmap, munmap, mprotect, brk, madvise, msync.
 * Declared in vm.h.
 *
 * Each changes areas and entries under mm->lock held for writing; what areas refer to (files) is
 * let go after it, since a last reference may need the locks of a file system.
 */
#include "mm/space/vm_internal.h"

#define IDLE_TABLES_MAX 32

DEFINE_GUARD(mm_write, struct mm, down_write(&object->lock), mm_write_unlock)

/* ---- unmap ----------------------------------------------------------------------------------- */

int unmap_range(struct mm *mm, u64 start, u64 end)
{
	if (!TRY(vma_remove(mm, start, end)))
		return 0;
	/* Tables without an area stay for the next one, which often comes at once, up to a number
	 * that keeps freeing them cheap however many areas there are. */
	u64 spans = (end - 1) / MMU_SLOTS_SPAN - start / MMU_SLOTS_SPAN;
	if (spans || mm->idle_last != start / MMU_SLOTS_SPAN) /* else it is counted already */
		mm->idle_tables += 1 + (unsigned)min(spans, (u64)AREAS_MAX);
	mm->idle_last = (end - 1) / MMU_SLOTS_SPAN;
	if (mm->idle_tables >= IDLE_TABLES_MAX + mm->area_count / 8) {
		guard(spinlock, &mm->page_table_lock);
		mmu_free_tables(&mm->mmu);
		mm->idle_tables = 0;
	}
	return 0;
}

static bool pages_overflow(u64 address, u64 length)
{
	return length > USER_TOP || address > USER_TOP - length;
}

s64 sys_munmap(u64 address, u64 length)
{
	struct mm *mm = current->mm;

	length = page_round_up(length);
	if (address & (PAGE_SIZE - 1) || !length || pages_overflow(address, length))
		return -EINVAL;
	guard(mm_write, mm);
	return unmap_range(mm, address, address + length);
}

/* ---- map ------------------------------------------------------------------------------------- */

bool may_expand(const struct mm *mm, u64 pages, unsigned flags)
{
	return mm->total_pages + pages <= memory_limit(LIMIT_AS) >> PAGE_SHIFT &&
	       (!is_data(flags) ||
		mm->data_pages + pages <= memory_limit(LIMIT_DATA) >> PAGE_SHIFT);
}

static bool on_noexec(const struct file *file)
{
	return (file->path.mount->flags | file->inode->sb->flags) & SB_NOEXEC;
}

/* Would programs write to @file through an area with these flags, who may not? */
static bool writes_unasked(const struct file *file, unsigned flags)
{
	return flags & VM_SHARED && flags & VM_WRITE && !(file->mode & FMODE_WRITE);
}

/* May @file be mapped so? 0, or -errno. */
static int check_file(const struct file *file, unsigned flags)
{
	if (!(file->mode & FMODE_READ) || writes_unasked(file, flags))
		return -EACCES;
	if (flags & VM_EXEC && on_noexec(file))
		return -EPERM;
	if (file->fop->mmap == NOT_MAPPED)
		return -ENODEV;
	return flags & VM_GROWSDOWN ? -EINVAL : 0;
}

/* The VM_* flags of the new area: 0, or -errno. */
static int area_flags(u64 pages, unsigned prot, unsigned map_flags, const struct file *file,
		      unsigned *flags)
{
	unsigned type = map_flags & MAP_TYPE;

	if (map_flags & MAP_LOCKED) /* as if RLIMIT_MEMLOCK were 0 */
		return -EPERM;
	if (map_flags & MAP_32BIT || (type != MAP_PRIVATE && (type != MAP_SHARED || !file)))
		return type == MAP_SHARED_VALIDATE && file ? -EOPNOTSUPP : -EINVAL;
	*flags = (prot & VM_RIGHTS) | (type == MAP_SHARED ? VM_SHARED : 0) |
		 (map_flags & MAP_GROWSDOWN ? VM_GROWSDOWN : 0);
	if (file)
		return check_file(file, *flags);
	/* what could never be backed is refused, as Linux's overcommit 0 does */
	return !(map_flags & MAP_NORESERVE) && prot & PROT_WRITE && pages > page_alloc_total_pages()
		       ? -ENOMEM
		       : 0;
}

/* Where the new area is to be; what is there for MAP_FIXED is unmapped. An address, or -errno. */
static s64 choose_address(struct mm *mm, u64 address, u64 length, unsigned map_flags)
{
	bool fixed = map_flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);

	if (fixed && address & (PAGE_SIZE - 1))
		return -EINVAL;
	address = round_down(address, (u64)PAGE_SIZE);
	if (fixed && pages_overflow(address, length))
		return -ENOMEM;
	if (fixed && address < LOWEST_ADDRESS)
		return -EPERM;
	if (address && !pages_overflow(address, length)) {
		address = max(address, LOWEST_ADDRESS);
		if (range_is_free(mm, address, address + length))
			return (s64)address;
	}
	if (map_flags & MAP_FIXED_NOREPLACE)
		return -EEXIST;
	if (fixed)
		return unmap_range(mm, address, address + length) ?: (s64)address;
	return find_free_range(mm, length);
}

s64 mm_map(struct mm *mm, u64 address, u64 length, unsigned prot, unsigned map_flags,
	   struct file *file, u64 offset)
{
	struct vma area = {.page_offset = offset >> PAGE_SHIFT};

	if (!length)
		return -EINVAL;
	length = page_round_up(length);
	if (!length || length > USER_TOP)
		return -ENOMEM;
	if (offset + length < offset)
		return -EOVERFLOW;
	TRY(area_flags(length >> PAGE_SHIFT, prot, map_flags, file, &area.flags));
	if (file && file->fop->mmap == MAPPED_PAGES) {
		area.file = file;
		area.mapping = &file->inode->data;
		touch_atime(file);
	}
	guard(mm_write, mm);
	area.start = (u64)TRY(choose_address(mm, address, length, map_flags));
	area.end = area.start + length;
	if (!may_expand(mm, length >> PAGE_SHIFT, area.flags))
		return -ENOMEM;
	TRY(vma_add(mm, &area));
	return (s64)area.start;
}

/* ---- protection ------------------------------------------------------------------------------ */

/* What the entry may allow now: writing only where no fault has to see it first. */
static void change_entry(pte_t *slot, u64 address, void *rights)
{
	unsigned allowed = pte_write(*slot) ? ~0u : ~MMU_WRITE;

	*slot = pte_set_prot(xchg(slot, 0), *(unsigned *)rights & allowed);
}

static int may_change(const struct vma *vma, unsigned flags)
{
	u64 more = is_data(flags) && !is_data(vma->flags) ? vma->end - vma->start : 0;

	if (vma->file && (writes_unasked(vma->file, flags) ||
			  (flags & VM_EXEC && on_noexec(vma->file))))
		return -EACCES;
	return more && (vma->mm->data_pages << PAGE_SHIFT) + more > memory_limit(LIMIT_DATA)
		       ? -ENOMEM
		       : 0;
}

s64 sys_mprotect(u64 start, u64 length, u32 prot)
{
	u64 end = start + page_round_up(length);
	struct mm *mm = current->mm;

	if (start & (PAGE_SIZE - 1) || prot & ~VM_RIGHTS)
		return -EINVAL;
	if (!length)
		return 0;
	if (end <= start || end > USER_TOP)
		return -ENOMEM;
	guard(mm_write, mm);
	u64 last = mapped_end(mm, start, end);
	struct vma *first = vma_carve(mm, start, last);
	int error = PTR_ERR_OR_ZERO(first);
	if (error)
		return error;
	for_each_area_from (vma, first, last) {
		unsigned flags = (vma->flags & ~VM_RIGHTS) | prot;

		error = may_change(vma, flags);
		if (error)
			break;
		vma_change(vma, vma->start, vma->end, flags);
		guard(spinlock, &mm->page_table_lock);
		unsigned rights = vma_page_rights(vma);
		visit_entries(mm, vma->start, vma->end, change_entry, &rights);
		mmu_flush(&mm->mmu, vma->start, vma->end);
	}
	vma_merge(mm, start, last);
	return !error && last < end ? -ENOMEM : error; /* what lies before the hole is changed */
}

/* ---- the break ------------------------------------------------------------------------------- */

s64 sys_brk(u64 new_end)
{
	struct mm *mm = current->mm;

	if (new_end < mm->brk_start || new_end > USER_TOP)
		return (s64)READ_ONCE(mm->brk_end);
	guard(mm_write, mm);
	u64 old_pages = page_round_up(mm->brk_end), new_pages = page_round_up(new_end);
	struct vma heap = {.start = old_pages, .end = new_pages, .flags = VM_READ | VM_WRITE};
	u64 more = new_pages > old_pages ? (new_pages - old_pages) >> PAGE_SHIFT : 0;

	if (more ? more <= page_alloc_total_pages() && may_expand(mm, more, heap.flags) &&
			    range_is_free(mm, old_pages, new_pages) && !vma_add(mm, &heap)
		 : !unmap_range(mm, new_pages, old_pages))
		mm->brk_end = new_end;
	return (s64)mm->brk_end;
}

/* ---- madvise, msync -------------------------------------------------------------------------- */

/* Other advice than MADV_DONTNEED is taken by doing nothing: read-ahead and reclaim see for
 * themselves how memory is used. */
s64 sys_madvise(u64 address, u64 length, u32 advice)
{
	u64 end = address + page_round_up(length);
	struct mm *mm = current->mm;

	if (address & (PAGE_SIZE - 1) || (length && end <= address) || advice > MADV_DONTNEED)
		return -EINVAL;
	guard(read, &mm->lock);
	for_each_area (vma, mm, address, end)
		if (advice == MADV_DONTNEED)
			vma_zap(vma, max(address, vma->start), min(end, vma->end), true);
	return mapped_end(mm, address, end) < end ? -ENOMEM : 0;
}

s64 sys_msync(u64 address, u64 length, u32 flags)
{
	struct mm *mm = current->mm;
	u64 end = address + page_round_up(length);
	bool hole = false;

	if (flags & ~(unsigned)(MS_ASYNC | MS_INVALIDATE | MS_SYNC) ||
	    (flags & MS_ASYNC && flags & MS_SYNC) || address & (PAGE_SIZE - 1))
		return -EINVAL;
	if (end < address)
		return -ENOMEM;
	while (address < end) {
		struct file *file __free(fput) = NULL;

		down_read(&mm->lock);
		const struct vma *vma = find_vma(mm, address);
		hole |= !vma || vma->start > address;
		address = vma ? vma->end : end;
		if (vma && vma->start < end && vma->flags & VM_SHARED && flags & MS_SYNC)
			get_file(file = vma->file);
		up_read(&mm->lock);
		if (file)
			TRY(vfs_fsync(file, true));
	}
	return hole ? -ENOMEM : 0;
}
