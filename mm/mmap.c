/*
 * mmap.c - mapping, unmapping, changing protection, and the break. Declared in vm.h.
 *
 * Each call changes areas and entries under mm->lock held for writing; what areas refer to (files,
 * shared memory) is let go after it, since a last reference may need the locks of a file system.
 */
#include "kernel/core/err.h"
#include "kernel/core/sched.h"
#include "mm/mman.h"
#include "mm/page_alloc.h"
#include "mm/vm_internal.h"

#define IDLE_TABLES_MAX 32
#define PROT_ALL (PROT_READ | PROT_WRITE | PROT_EXEC)
#define KNOWN_FLAGS                                                                                \
	(MAP_TYPE | MAP_FIXED | MAP_ANONYMOUS | MAP_32BIT | MAP_GROWSDOWN | MAP_DENYWRITE |        \
	 MAP_LOCKED | MAP_NORESERVE | MAP_POPULATE | MAP_STACK | MAP_FIXED_NOREPLACE)

/* ---- unmap ----------------------------------------------------------------------------------- */

/* No area lies in [start, end): free the tables that lie wholly in it. */
static void free_tables_in(struct mm *mm, u64 start, u64 end)
{
	start = round_up(start, MMU_SLOTS_SPAN);
	end = round_down(end, MMU_SLOTS_SPAN);
	if (start >= end)
		return;
	spin_lock(&mm->page_table_lock);
	mmu_free_tables(&mm->mmu, start, end);
	spin_unlock(&mm->page_table_lock);
}

static void free_all_tables(struct mm *mm)
{
	const struct vma *vma;
	u64 end = 0;

	list_for_each_entry(vma, &mm->vmas, link) {
		free_tables_in(mm, end, vma->start);
		end = vma->end;
	}
	free_tables_in(mm, end, round_up(USER_TOP, MMU_SLOTS_SPAN));
}

/*
 * Free the tables of [start, end), which was unmapped, that no area lies in any more. What is small
 * is often mapped again at once, and would need its table again: then the table stays, up to a
 * number.
 */
static void free_tables(struct mm *mm, u64 start, u64 end)
{
	struct vma *next = find_vma(mm, end - 1), *prev;
	u64 low = round_down(start, MMU_SLOTS_SPAN), high = round_up(end, MMU_SLOTS_SPAN);

	prev = next		       ? vma_prev(next)
	       : list_empty(&mm->vmas) ? NULL
				       : list_last_entry(&mm->vmas, struct vma, link);
	low = max(low, prev ? prev->end : 0);
	high = min(high, next ? next->start : high);
	if (high - low < MMU_SLOTS_SPAN)
		return;
	if (end - start >= MMU_SLOTS_SPAN) {
		free_tables_in(mm, low, high);
	} else if (++mm->idle_tables == IDLE_TABLES_MAX) {
		mm->idle_tables = 0;
		free_all_tables(mm);
	}
}

int unmap_range(struct mm *mm, u64 start, u64 end, struct list_head *dead)
{
	struct vma *vma = find_vma(mm, start), *next;

	if (!vma || vma->start >= end)
		return 0;
	if (vma->start < start) {
		if (vma_split(vma, start))
			return -ENOMEM;
		vma = vma_next(vma);
	}
	next = find_vma(mm, end - 1);
	if (next && next->start < end && next->end > end && vma_split(next, end)) {
		vma_merge(vma, dead);
		return -ENOMEM;
	}
	for (; vma && vma->start < end; vma = next) {
		next = vma_next(vma);
		vma_zap(vma, vma->start, vma->end);
		vma_remove(vma, dead);
	}
	free_tables(mm, start, end);
	return 0;
}

int mm_unmap(struct mm *mm, u64 address, u64 length)
{
	LIST_HEAD(dead);
	int error;

	length = page_round_up(length);
	if (address & (PAGE_SIZE - 1) || !length || pages_overflow(address, length))
		return -EINVAL;
	down_write(&mm->lock);
	error = unmap_range(mm, address, address + length, &dead);
	up_write(&mm->lock);
	vmas_free(&dead);
	return error;
}

/* ---- map ------------------------------------------------------------------------------------- */

bool may_commit(u64 pages)
{
	return pages <= page_alloc_total_pages();
}

/* May @file be mapped so, and with which rights beyond? 0 and more bits of *@flags, or -errno. */
static int check_file(const struct file *file, unsigned map_flags, unsigned *flags)
{
	bool shared = *flags & VM_SHARED;

	if (shared && map_flags & ~KNOWN_FLAGS && (map_flags & MAP_TYPE) == MAP_SHARED_VALIDATE)
		return -EOPNOTSUPP;
	if (!(file->mode & FMODE_READ))
		return -EACCES;
	if (shared && *flags & VM_WRITE && !(file->mode & FMODE_WRITE))
		return -EACCES;
	if (*flags & VM_EXEC && (file->path.mount->flags | file->inode->sb->flags) & SB_NOEXEC)
		return -EPERM;
	if (!file->fop->mmap)
		return -ENODEV;
	if (*flags & VM_GROWSDOWN)
		return -EINVAL;
	if (!shared || file->mode & FMODE_WRITE)
		*flags |= VM_MAYWRITE;
	return 0;
}

/* The VM_* flags of the new area, or -errno. */
static int area_flags(u64 pages, unsigned prot, unsigned map_flags, const struct file *file,
		      unsigned *flags)
{
	unsigned type = map_flags & MAP_TYPE;

	*flags = prot & PROT_ALL;
	if (type != MAP_PRIVATE && type != MAP_SHARED && (type != MAP_SHARED_VALIDATE || !file))
		return -EINVAL;
	if (type != MAP_PRIVATE)
		*flags |= VM_SHARED;
	if ((prot & (PROT_WRITE | PROT_EXEC)) == (PROT_WRITE | PROT_EXEC))
		return -EACCES;
	if (map_flags & MAP_LOCKED)
		*flags |= VM_LOCKED;
	if (map_flags & MAP_GROWSDOWN)
		*flags |= VM_GROWSDOWN | (map_flags & MAP_STACK ? VM_STACK : 0);
	if (file)
		return check_file(file, map_flags, flags);
	if (*flags & VM_GROWSDOWN && *flags & VM_SHARED)
		return -EINVAL;
	if (!(map_flags & MAP_NORESERVE) && prot & PROT_WRITE && !may_commit(pages))
		return -ENOMEM;
	*flags |= VM_MAYWRITE;
	return 0;
}

/* Where the new area is to be; what is there for MAP_FIXED is unmapped. An address, or -errno. */
static s64 choose_address(struct mm *mm, u64 address, u64 length, unsigned map_flags,
			  struct list_head *dead)
{
	int error;

	if (map_flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
		if (address & (PAGE_SIZE - 1))
			return -EINVAL;
		if (pages_overflow(address, length))
			return -ENOMEM;
		if (address < LOWEST_ADDRESS)
			return -EPERM;
		if (range_is_free(mm, address, address + length))
			return (s64)address;
		if (map_flags & MAP_FIXED_NOREPLACE)
			return -EEXIST;
		error = unmap_range(mm, address, address + length, dead);
		return error ? error : (s64)address;
	}
	if (address) {
		address = max(address & ~(u64)(PAGE_SIZE - 1), LOWEST_ADDRESS);
		if (!pages_overflow(address, length) &&
		    range_is_free(mm, address, address + length))
			return (s64)address;
	}
	address = find_free_range(mm, length, map_flags & MAP_32BIT);
	return address ? (s64)address : -ENOMEM;
}

/* What the area shows: 0 or -errno. */
static int attach(struct vma *vma, struct file *file, u64 offset)
{
	if (file) {
		get_file(file);
		vma->file = file;
		vma->page_offset = offset >> PAGE_SHIFT;
		return file->fop->mmap(file, vma);
	}
	if (!(vma->flags & VM_SHARED))
		return 0;
	vma->shared = shared_memory_create(vma->end - vma->start);
	if (!vma->shared)
		return -ENOMEM;
	vma->mapping = &vma->shared->inode.data;
	return 0;
}

/* Insert @vma, which has no place yet. */
static s64 place(struct mm *mm, struct vma *vma, u64 address, unsigned map_flags,
		 struct list_head *dead)
{
	u64 length = vma->end;
	s64 result;

	if (mm->vma_count >= AREAS_MAX)
		return -ENOMEM;
	result = choose_address(mm, address, length, map_flags, dead);
	if (result < 0)
		return result;
	vma->start = (u64)result;
	vma->end = vma->start + length;
	vma_insert(vma);
	vma_merge(vma, dead);
	return result;
}

/* MAP_POPULATE: fault all in that can be. */
static void populate(struct mm *mm, u64 address, u64 length, bool write)
{
	for (u64 end = address + length; address < end; address += PAGE_SIZE) {
		if (mm_fault(mm, address, write ? FAULT_WRITE : 0) || signal_pending(current))
			break;
		cond_resched();
	}
}

s64 mm_map(struct mm *mm, u64 address, u64 length, unsigned prot, unsigned map_flags,
	   struct file *file, u64 offset)
{
	struct vma *vma;
	unsigned flags;
	LIST_HEAD(dead);
	s64 result;

	if (!length)
		return -EINVAL;
	length = page_round_up(length);
	if (!length || length > USER_TOP)
		return -ENOMEM;
	if (offset + length < offset)
		return -EOVERFLOW;
	result = area_flags(length >> PAGE_SHIFT, prot, map_flags, file, &flags);
	if (result)
		return result;
	vma = vma_new(mm, 0, length, flags);
	if (!vma)
		return -ENOMEM;
	result = attach(vma, file, offset);
	if (!result) {
		down_write(&mm->lock);
		result = place(mm, vma, address, map_flags, &dead);
		up_write(&mm->lock);
	}
	if (result < 0)
		vma_free(vma);
	vmas_free(&dead);
	if (result > 0 && map_flags & (MAP_POPULATE | MAP_LOCKED) && prot != PROT_NONE)
		populate(mm, (u64)result, length, prot & PROT_WRITE && !(flags & VM_SHARED));
	return result;
}

int generic_file_mmap(struct file *file, struct vma *vma)
{
	struct inode *inode = file->inode;

	if (!inode->data.ops || !inode->data.ops->readpage)
		return -ENODEV;
	vma->mapping = &inode->data;
	touch_atime(file);
	return 0;
}

/* ---- protection ------------------------------------------------------------------------------ */

/* What the entry @pte may allow when its area allows @prot: writing only where no fault has to see
 * it first. */
static pte_t change_entry(pte_t pte, unsigned prot)
{
	const struct page *page = phys_to_page(pte_page(pte));

	if (prot & MMU_WRITE && !pte_write(pte) &&
	    !(test_bit(PG_anon, &page->flags) && atomic_read(&page->refcount) == 1))
		prot &= ~MMU_WRITE;
	return pte_set_prot(pte, prot);
}

static void change_entries(struct vma *vma)
{
	struct mm *mm = vma->mm;
	bool changed = false;

	spin_lock(&mm->page_table_lock);
	for (u64 address = vma->start, next; address < vma->end; address = next) {
		pte_t *slot = mmu_slot(&mm->mmu, address, false);

		next = min(round_down(address, MMU_SLOTS_SPAN) + MMU_SLOTS_SPAN, vma->end);
		if (!slot)
			continue;
		for (; address < next; address += PAGE_SIZE, slot++) {
			if (!*slot)
				continue;
			*slot = change_entry(xchg(slot, 0), vma_page_rights(vma));
			changed = true;
		}
	}
	if (changed)
		mmu_flush(&mm->mmu, vma->start, vma->end);
	spin_unlock(&mm->page_table_lock);
}

static bool may_protect(const struct vma *vma, unsigned prot)
{
	if (prot & PROT_WRITE && !(vma->flags & VM_MAYWRITE))
		return false;
	return !(prot & PROT_EXEC) || !vma->file ||
	       !((vma->file->path.mount->flags | vma->file->inode->sb->flags) & SB_NOEXEC);
}

/* Make [start, end), which lies in *@vma, an area of its own, which *@vma then is, with other
 * flags: the bits of
 * @mask become those of @flags. 0 or -ENOMEM. vma_merge() it afterwards. */
static int change_flags(struct vma **vma, u64 start, u64 end, unsigned mask, unsigned flags)
{
	if ((*vma)->start < start) {
		if (vma_split(*vma, start))
			return -ENOMEM;
		*vma = vma_next(*vma);
	}
	if ((*vma)->end > end && vma_split(*vma, end))
		return -ENOMEM;
	(*vma)->flags = ((*vma)->flags & ~mask) | flags;
	return 0;
}

/* Give [start, end), which lies in *@vma, the protection @prot: 0 or -errno, and what *@vma has
 * become. */
static int protect_piece(struct vma **vma, u64 start, u64 end, unsigned prot,
			 struct list_head *dead)
{
	int error;

	if (!may_protect(*vma, prot))
		return -EACCES;
	if (vma_protection(*vma) == prot)
		return 0;
	error = change_flags(vma, start, end, PROT_ALL, prot);
	if (error)
		return error;
	change_entries(*vma);
	*vma = vma_merge(*vma, dead);
	return 0;
}

static int protect_range(struct mm *mm, u64 at, u64 end, unsigned prot, bool grows_down,
			 struct list_head *dead)
{
	struct vma *vma = find_vma(mm, at);
	int error = 0;

	if (vma && grows_down && vma->flags & VM_GROWSDOWN && vma->start < end)
		at = vma->start;
	for (; at < end && !error; vma = vma_next(vma)) {
		u64 next;

		if (!vma || vma->start > at)
			return -ENOMEM;
		next = min(end, vma->end);
		error = protect_piece(&vma, at, next, prot, dead);
		/* it may have been joined with what follows: then that is so already */
		at = max(next, vma->end);
	}
	return error;
}

int mm_protect(struct mm *mm, u64 address, u64 length, unsigned prot)
{
	bool grows_down = prot & PROT_GROWSDOWN;
	LIST_HEAD(dead);
	int error;

	prot &= ~(unsigned)PROT_GROWSDOWN;
	if (address & (PAGE_SIZE - 1) || prot & ~(unsigned)PROT_ALL)
		return -EINVAL;
	if (!length)
		return 0;
	length = page_round_up(length);
	if (!length || pages_overflow(address, length))
		return -ENOMEM;
	if ((prot & (PROT_WRITE | PROT_EXEC)) == (PROT_WRITE | PROT_EXEC))
		return -EACCES;
	down_write(&mm->lock);
	error = protect_range(mm, address, address + length, prot, grows_down, &dead);
	up_write(&mm->lock);
	vmas_free(&dead);
	return error;
}

/* ---- mlock ----------------------------------------------------------------------------------- */

static u64 locked_bytes(struct mm *mm)
{
	const struct vma *vma;
	u64 sum = 0;

	list_for_each_entry(vma, &mm->vmas, link)
		sum += vma->flags & VM_LOCKED ? vma->end - vma->start : 0;
	return sum;
}

static int set_locked(struct mm *mm, u64 at, u64 end, unsigned flags, struct list_head *dead)
{
	struct vma *vma = find_vma(mm, at);
	int error = 0;

	for (; at < end && !error; vma = vma_next(vma)) {
		u64 next;

		if (!vma || vma->start > at)
			return -ENOMEM;
		next = min(end, vma->end);
		if ((vma->flags & VM_LOCKED) != flags) {
			error = change_flags(&vma, at, next, VM_LOCKED, flags);
			vma = vma_merge(vma, dead);
		}
		at = max(next, vma->end);
	}
	return error;
}

static int change_locked(struct mm *mm, u64 start, u64 end, unsigned flags, u64 limit)
{
	LIST_HEAD(dead);
	int error = -ENOMEM;

	down_write(&mm->lock);
	if (!flags || (end - start <= limit && locked_bytes(mm) <= limit - (end - start)))
		error = set_locked(mm, start, end, flags, &dead);
	up_write(&mm->lock);
	vmas_free(&dead);
	return error;
}

int mm_lock(struct mm *mm, u64 address, u64 length, u64 limit)
{
	u64 start = round_down(address, (u64)PAGE_SIZE), end = page_round_up(address + length);
	int error;

	if (!limit)
		return -EPERM;
	if (end < start || end > USER_TOP)
		return end < start ? -EINVAL : -ENOMEM;
	error = change_locked(mm, start, end, VM_LOCKED, limit);
	for (; start < end && !error; start += PAGE_SIZE)
		error = mm_fault(mm, start, 0) ? -ENOMEM : 0;
	return error;
}

int mm_unlock(struct mm *mm, u64 address, u64 length)
{
	u64 start = round_down(address, (u64)PAGE_SIZE), end = page_round_up(address + length);

	if (end < start || end > USER_TOP)
		return end < start ? -EINVAL : -ENOMEM;
	return change_locked(mm, start, end, 0, 0);
}

/* ---- the break ------------------------------------------------------------------------------- */

/* Make [start, end) part of the heap: 0 or -ENOMEM. */
static int grow_heap(struct mm *mm, u64 start, u64 end)
{
	const unsigned flags = VM_READ | VM_WRITE | VM_MAYWRITE | VM_HEAP;
	struct vma *vma;

	if (end > USER_TOP || !may_commit((end - start) >> PAGE_SHIFT) ||
	    !range_is_free(mm, start, end))
		return -ENOMEM;
	vma = find_vma(mm, start - 1);
	if (vma && vma->end == start && vma->flags == flags) {
		vma_set_bounds(vma, vma->start, end);
		return 0;
	}
	vma = mm->vma_count < AREAS_MAX ? vma_new(mm, start, end, flags) : NULL;
	if (!vma)
		return -ENOMEM;
	vma_insert(vma);
	return 0;
}

u64 mm_brk(struct mm *mm, u64 new_end)
{
	u64 old_pages, new_pages;
	LIST_HEAD(dead);
	int error = 0;

	if (new_end < mm->brk_start || new_end > USER_TOP)
		return READ_ONCE(mm->brk_end);
	down_write(&mm->lock);
	old_pages = page_round_up(mm->brk_end);
	new_pages = page_round_up(new_end);
	if (new_pages > old_pages)
		error = grow_heap(mm, old_pages, new_pages);
	else if (new_pages < old_pages)
		error = unmap_range(mm, new_pages, old_pages, &dead);
	if (!error)
		mm->brk_end = new_end;
	new_end = mm->brk_end;
	up_write(&mm->lock);
	vmas_free(&dead);
	return new_end;
}

/* ---- /proc ----------------------------------------------------------------------------------- */

bool mm_next_area(struct mm *mm, u64 address, struct vma_info *info)
{
	const struct vma *vma;

	down_read(&mm->lock);
	vma = find_vma(mm, address);
	if (vma) {
		*info = (struct vma_info){
			.start = vma->start,
			.end = vma->end,
			.offset = (u64)vma->page_offset << PAGE_SHIFT,
			.flags = vma->flags,
			.shared_memory = vma->shared,
			.file = vma->file,
		};
		if (vma->file)
			get_file(vma->file);
	}
	up_read(&mm->lock);
	return vma;
}
