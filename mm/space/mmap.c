/*
 * mmap.c - the calls that change an address space: mmap, munmap, mprotect, brk, madvise, msync.
 * Declared in vm.h.
 *
 * Each changes areas and entries under mm->lock held for writing; what areas refer to (files) is
 * let go after it, since a last reference may need the locks of a file system.
 */
#include "mm/space/vm_internal.h"

#define IDLE_TABLES_MAX 32

/* ---- unmap ----------------------------------------------------------------------------------- */

int unmap_range(struct mm *mm, u64 start, u64 end)
{
	lockdep_assert_held(&mm->lock);
	int removed = TRY(vma_remove(mm, start, end));
	if (!removed)
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

int may_expand(const struct mm *mm, u64 pages, unsigned flags)
{
	lockdep_assert_held(&mm->lock);
	if (!swap_may_lock(mm, pages, flags))
		return -EAGAIN;
	if (mm->total_pages + pages > current_limit(RLIMIT_AS) >> PAGE_SHIFT ||
	    (is_data(flags) && mm->data_pages + pages > current_limit(RLIMIT_DATA) >> PAGE_SHIFT))
		return -ENOMEM;
	return 0;
}

/* The VM_* flags of the new area: 0, or -errno. */
static int area_flags(unsigned prot, unsigned map_flags, const struct file *file, unsigned *flags)
{
	unsigned type = map_flags & MAP_TYPE;

	if (map_flags & MAP_LOCKED) /* as if RLIMIT_MEMLOCK were 0 */
		return -EPERM;
	if (type == MAP_SHARED_VALIDATE && file)
		return -EOPNOTSUPP;
	if (map_flags & MAP_32BIT || (type != MAP_PRIVATE && type != MAP_SHARED))
		return -EINVAL;
	if (type == MAP_SHARED && !file)
		return -EINVAL;
	*flags = prot & VM_RIGHTS;
	if (type == MAP_SHARED)
		*flags |= VM_SHARED;
	if (map_flags & MAP_GROWSDOWN)
		*flags |= VM_GROWSDOWN;
	return 0;
}

/* What could never be backed is refused, as Linux's overcommit 0 does. */
static bool is_too_much(u64 pages, unsigned prot, unsigned map_flags)
{
	return !(map_flags & MAP_NORESERVE) && prot & PROT_WRITE &&
	       pages > page_alloc_total_pages() + swap_total_pages();
}

/* How many pages of [@low, @high) areas have. */
static u64 area_pages(const struct mm *mm, u64 low, u64 high)
{
	u64 bytes = 0;

	for_each_area (vma, mm, low, high)
		bytes += min(vma->end, high) - max(vma->start, low);
	return bytes >> PAGE_SHIFT;
}

/* Where the new area is to be: an address, or -errno. With MAP_FIXED others may be there. */
static s64 choose_address(struct mm *mm, u64 address, u64 length, unsigned map_flags)
{
	bool fixed = map_flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);

	lockdep_assert_held(&mm->lock);
	if (fixed && address & (PAGE_SIZE - 1))
		return -EINVAL;
	address = round_down(address, (u64)PAGE_SIZE);
	if (fixed && pages_overflow(address, length))
		return -ENOMEM;
	if (fixed && address < LOWEST_ADDRESS)
		return -EPERM;
	if (address && !pages_overflow(address, length)) {
		address = max(address, LOWEST_ADDRESS);
		const struct vma *above = fixed ? NULL : first_area(mm, address);
		bool stack = above && above->flags & VM_GROWSDOWN; /* which needs its gap */
		if (range_is_free(mm, address, address + length + (stack ? STACK_GAP : 0)))
			return (s64)address;
	}
	if (map_flags & MAP_FIXED_NOREPLACE)
		return -EEXIST;
	return fixed ? (s64)address : find_free_range(mm, length);
}

s64 mm_map(struct mm *mm, u64 address, u64 length, unsigned prot, unsigned map_flags,
	   struct file *file, u64 offset)
{
	struct vma area; /* of one that is wanted, what vma_create() copies is looked at */

	memset(&area, 0, offsetof(struct vma, link));
	area.page_offset = offset >> PAGE_SHIFT;
	if (!length)
		return -EINVAL;
	length = page_round_up(length);
	if (!length || length > USER_TOP)
		return -ENOMEM;
	if (file && (offset + length < offset || (s64)(offset + length) < 0))
		return -EOVERFLOW;
	TRY(area_flags(prot, map_flags, file, &area.flags));
	if (file)
		TRY(mapped_files->map(file, area.flags, &area.mapping));
	else if (is_too_much(length >> PAGE_SHIFT, prot, map_flags))
		return -ENOMEM;
	if (area.mapping)
		area.file = file;
	guard(mm_write, mm);
	area.flags |= swap_area_flags(mm);
	area.start = (u64)TRY(choose_address(mm, address, length, map_flags));
	area.end = area.start + length;
	u64 there = map_flags & MAP_FIXED ? area_pages(mm, area.start, area.end) : 0;
	TRY(may_expand(mm, (length >> PAGE_SHIFT) - there, area.flags));
	if (there)
		TRY(unmap_range(mm, area.start, area.end));
	TRY(vma_add(mm, &area));
	return (s64)area.start;
}

/* ---- protection ------------------------------------------------------------------------------ */

/* What the entry may allow now: writing only where no fault has to see it first. */
static void change_entry(pte_t *slot, u64 address, void *rights)
{
	unsigned allowed = *(unsigned *)rights;

	if (pte_is_swap(*slot))
		return;
	if (!pte_write(*slot))
		allowed &= ~MMU_WRITE;
	*slot = pte_set_prot(xchg(slot, 0), allowed);
}

static int may_change(const struct vma *vma, unsigned flags)
{
	lockdep_assert_held(&vma->mm->lock);
	if (vma->file)
		TRY(mapped_files->protect(vma->file, flags));
	if (is_data(flags) && !is_data(vma->flags)) {
		u64 bytes = (vma->mm->data_pages << PAGE_SHIFT) + (vma->end - vma->start);

		if (bytes > current_limit(RLIMIT_DATA))
			return -ENOMEM;
	}
	return 0;
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
	int error = TRY(PTR_ERR_OR_ZERO(first));
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
	if (!error && last < end) /* what lies before the hole is changed */
		error = -ENOMEM;
	return error;
}

/* ---- the break ------------------------------------------------------------------------------- */

/* The heap takes [start, end), page aligned, as well: 0, -ENOMEM, or -EAGAIN: more than may be
 * locked. */
static int grow_heap(struct mm *mm, u64 start, u64 end)
{
	struct vma heap = {.start = start, .end = end, .flags = VM_READ | VM_WRITE};
	u64 pages = (end - start) >> PAGE_SHIFT;

	lockdep_assert_held(&mm->lock);
	heap.flags |= swap_area_flags(mm);
	if (pages > page_alloc_total_pages() + swap_total_pages() || !range_is_free(mm, start, end))
		return -ENOMEM;
	TRY(may_expand(mm, pages, heap.flags));
	return vma_add(mm, &heap);
}

s64 sys_brk(u64 new_end)
{
	struct mm *mm = current->mm;

	if (new_end < mm->brk_start || new_end > USER_TOP)
		return (s64)READ_ONCE(mm->brk_end);
	guard(mm_write, mm);
	u64 from = page_round_up(mm->brk_end), to = page_round_up(new_end);
	int error = 0;

	if (to > from)
		error = grow_heap(mm, from, to);
	else if (to < from)
		error = unmap_range(mm, to, from);
	if (!error)
		mm->brk_end = new_end;
	return (s64)mm->brk_end; /* an error is told by the old one */
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
	for_each_area (vma, mm, address, end) {
		if (advice != MADV_DONTNEED || !length)
			continue;
		if (swap_area_locked(vma))
			return -EINVAL;
		vma_zap(vma, max(address, vma->start), min(end, vma->end));
	}
	if (mapped_end(mm, address, end) < end)
		return -ENOMEM;
	return 0;
}

/* Go on from *@address to the end of its area, or of the hole there and the area behind that, but
 * not behind @end: is there no hole? *@file: what the area shares, with a reference, or NULL. */
static bool next_shared(struct mm *mm, u64 *address, u64 end, struct file **file)
{
	guard(read, &mm->lock);
	const struct vma *vma = find_vma(mm, *address);
	u64 from = *address;

	*file = NULL;
	*address = end;
	if (!vma)
		return false;
	*address = vma->end;
	if (vma->start < end && vma->flags & VM_SHARED) {
		*file = vma->file;
		mapped_files->get(*file);
	}
	return vma->start <= from;
}

s64 sys_msync(u64 address, u64 length, u32 flags)
{
	struct mm *mm = current->mm;
	u64 end = address + page_round_up(length);
	bool hole = false;
	int error = 0;

	if (flags & ~(unsigned)(MS_ASYNC | MS_INVALIDATE | MS_SYNC) ||
	    (flags & MS_ASYNC && flags & MS_SYNC) || address & (PAGE_SIZE - 1))
		return -EINVAL;
	if (end < address)
		return -ENOMEM;
	while (address < end && !error) {
		struct file *file;

		if (!next_shared(mm, &address, end, &file))
			hole = true;
		if (!file)
			continue;
		if (flags & MS_SYNC)
			error = mapped_files->sync(file);
		mapped_files->put(file);
	}
	if (!error && hole)
		error = -ENOMEM;
	return error;
}
