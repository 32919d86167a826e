/*
 * mmap.c - mapping, unmapping, changing protection, locking, and the break. Declared in vm.h.
 *
 * Each call changes areas and entries under mm->lock held for writing; what areas refer to (files,
 * shared memory) is let go after it, since a last reference may need the locks of a file system.
 */
#include "mm/mman.h"
#include "mm/vm_internal.h"

#define IDLE_TABLES_MAX 32
#define PROT_ALL (PROT_READ | PROT_WRITE | PROT_EXEC)
#define KNOWN_FLAGS                                                                                \
	(MAP_TYPE | MAP_FIXED | MAP_ANONYMOUS | MAP_32BIT | MAP_GROWSDOWN | MAP_DENYWRITE |        \
	 MAP_LOCKED | MAP_NORESERVE | MAP_POPULATE | MAP_STACK | MAP_FIXED_NOREPLACE)

/* ---- unmap ----------------------------------------------------------------------------------- */

/* [start, end) was unmapped. Tables without an area stay for the next one, which often comes at
 * once, up to a number that keeps freeing them cheap however many areas there are. */
static void free_tables(struct mm *mm, u64 start, u64 end)
{
	u64 first = start / MMU_SLOTS_SPAN, last = (end - 1) / MMU_SLOTS_SPAN;
	const struct vma *vma;
	u64 from = 0;

	if (first == mm->idle_last && last == first)
		return; /* that one is counted already */
	mm->idle_last = last;
	mm->idle_tables += 1 + (unsigned)min(last - first, (u64)AREAS_MAX);
	if (mm->idle_tables < IDLE_TABLES_MAX + mm->vma_count / 8)
		return;
	mm->idle_tables = 0;
	spin_lock(&mm->page_table_lock);
	list_for_each_entry(vma, &mm->vmas, link) {
		mmu_free_tables(&mm->mmu, from, round_down(vma->start, MMU_SLOTS_SPAN));
		from = round_up(vma->end, MMU_SLOTS_SPAN);
	}
	mmu_free_tables(&mm->mmu, from, round_up(USER_TOP, MMU_SLOTS_SPAN));
	spin_unlock(&mm->page_table_lock);
}

int unmap_range(struct mm *mm, u64 start, u64 end)
{
	struct vma *vma, *next;

	if (range_is_free(mm, start, end))
		return 0;
	if (vma_carve(mm, start, end))
		return -ENOMEM;
	for (vma = find_vma(mm, start); vma && vma->start < end; vma = next) {
		next = vma_next(vma);
		vma_zap(vma, vma->start, vma->end);
		vma_remove(vma);
	}
	free_tables(mm, start, end);
	return 0;
}

int mm_unmap(struct mm *mm, u64 address, u64 length)
{
	int error;

	length = page_round_up(length);
	if (address & (PAGE_SIZE - 1) || !length || pages_overflow(address, length))
		return -EINVAL;
	down_write(&mm->lock);
	error = unmap_range(mm, address, address + length);
	mm_write_unlock(mm);
	return error;
}

/* ---- map ------------------------------------------------------------------------------------- */

bool may_expand(const struct mm *mm, u64 pages, unsigned flags)
{
	if (mm->total_pages + pages > memory_limit(LIMIT_AS) >> PAGE_SHIFT ||
	    (is_data(flags) && mm->data_pages + pages > memory_limit(LIMIT_DATA) >> PAGE_SHIFT))
		return false;
	return !(flags & VM_LOCKED) ||
	       mm->locked_pages + pages <= memory_limit(LIMIT_MEMLOCK) >> PAGE_SHIFT;
}

static bool on_noexec(const struct file *file)
{
	return (file->path.mount->flags | file->inode->sb->flags) & SB_NOEXEC;
}

/* May @file be mapped so, and with which rights beyond? 0 and more bits of *@flags, or -errno. */
static int check_file(const struct file *file, unsigned map_flags, unsigned *flags)
{
	bool shared = *flags & VM_SHARED;

	if (shared && map_flags & ~KNOWN_FLAGS && (map_flags & MAP_TYPE) == MAP_SHARED_VALIDATE)
		return -EOPNOTSUPP;
	if (!(file->mode & FMODE_READ) ||
	    (shared && *flags & VM_WRITE && !(file->mode & FMODE_WRITE)))
		return -EACCES;
	if (*flags & VM_EXEC && on_noexec(file))
		return -EPERM;
	if (!file->fop->mmap)
		return -ENODEV;
	if (*flags & VM_GROWSDOWN)
		return -EINVAL;
	if (shared && !(file->mode & FMODE_WRITE))
		*flags &= ~VM_MAYWRITE;
	return 0;
}

/* The VM_* flags of the new area, or -errno. */
static int area_flags(u64 pages, unsigned prot, unsigned map_flags, const struct file *file,
		      unsigned *flags)
{
	unsigned type = map_flags & MAP_TYPE;

	*flags = (prot & PROT_ALL) | VM_MAYWRITE;
	if (type != MAP_PRIVATE && type != MAP_SHARED && (type != MAP_SHARED_VALIDATE || !file))
		return -EINVAL;
	if (type != MAP_PRIVATE)
		*flags |= VM_SHARED;
	if (map_flags & MAP_LOCKED) {
		if (!memory_limit(LIMIT_MEMLOCK))
			return -EPERM;
		*flags |= VM_LOCKED;
	}
	if (map_flags & MAP_GROWSDOWN)
		*flags |= VM_GROWSDOWN | (map_flags & MAP_STACK ? VM_STACK : 0);
	if (file)
		return check_file(file, map_flags, flags);
	if (*flags & VM_GROWSDOWN && *flags & VM_SHARED)
		return -EINVAL;
	return !(map_flags & MAP_NORESERVE) && prot & PROT_WRITE && pages > page_alloc_total_pages()
		       ? -ENOMEM
		       : 0;
}

/* Where the new area is to be; what is there for MAP_FIXED is unmapped. An address, or -errno. */
static s64 choose_address(struct mm *mm, u64 address, u64 length, unsigned map_flags)
{
	bool fixed = map_flags & (MAP_FIXED | MAP_FIXED_NOREPLACE), overflow;

	if (fixed && address & (PAGE_SIZE - 1))
		return -EINVAL;
	address = round_down(address, (u64)PAGE_SIZE);
	overflow = pages_overflow(address, length);
	if (fixed && (overflow || address < LOWEST_ADDRESS))
		return overflow ? -ENOMEM : -EPERM;
	if (address && !overflow) {
		address = max(address, LOWEST_ADDRESS);
		if (range_is_free(mm, address, address + length))
			return (s64)address;
	}
	if (map_flags & MAP_FIXED_NOREPLACE)
		return -EEXIST;
	if (fixed)
		return unmap_range(mm, address, address + length) ? -ENOMEM : (s64)address;
	return find_free_range(mm, length,
			       map_flags & MAP_32BIT ? min(mm->mmap_top, GB(2)) : mm->mmap_top);
}

int zero_mmap(struct file *file, struct vma *vma)
{
	struct inode *inode;

	(void)file;
	if (!(vma->flags & VM_SHARED))
		return 0;
	inode = kzalloc(sizeof(*inode), GFP_KERNEL);
	if (!inode)
		return -ENOMEM;
	atomic_set(&inode->refcount, 1);
	inode->size = (loff_t)(vma->end - vma->start);
	address_space_init(&inode->data, inode, &memory_mapping_operations);
	vma->mapping = &inode->data;
	vma->page_offset = 0;
	return 0;
}

/* Private anonymous memory at [start, end): as part of the area before it, if that is alike. */
static int add_anonymous(struct mm *mm, u64 start, u64 end, unsigned flags)
{
	struct vma *vma = find_vma(mm, start - 1);

	if (vma && vma->end == start && vma->flags == flags && !vma->mapping && !vma->file) {
		vma_set_bounds(vma, vma->start, end);
	} else {
		vma = mm->vma_count < AREAS_MAX ? vma_new(mm, start, end, flags) : NULL;
		if (!vma)
			return -ENOMEM;
		vma_insert(vma);
	}
	vma_merge(vma);
	return 0;
}

/* What shows a file or shared memory: 0 or -errno. */
static int add_mapping(struct mm *mm, u64 start, u64 end, unsigned flags, struct file *file,
		       u64 offset)
{
	struct vma *vma = mm->vma_count < AREAS_MAX ? vma_new(mm, start, end, flags) : NULL;
	int error;

	if (!vma)
		return -ENOMEM;
	if (file)
		get_file(file);
	vma->file = file;
	vma->page_offset = offset >> PAGE_SHIFT;
	error = (file ? file->fop->mmap : zero_mmap)(file, vma);
	if (error) {
		list_add(&vma->link, &mm->dead);
		return error;
	}
	vma_insert(vma);
	vma_merge(vma);
	return 0;
}

int populate(struct mm *mm, u64 start, u64 end, unsigned access)
{
	int error = 0;

	for (; start < end && !error; start += PAGE_SIZE) {
		error = signal_pending(current) ? -EINTR : mm_fault(mm, start, access);
		cond_resched();
	}
	return error;
}

s64 mm_map(struct mm *mm, u64 address, u64 length, unsigned prot, unsigned map_flags,
	   struct file *file, u64 offset)
{
	unsigned flags;
	s64 result;
	int error;

	if (!length)
		return -EINVAL;
	length = page_round_up(length);
	if (!length || length > USER_TOP)
		return -ENOMEM;
	if (offset + length < offset)
		return -EOVERFLOW;
	error = area_flags(length >> PAGE_SHIFT, prot, map_flags, file, &flags);
	if (error)
		return error;
	down_write(&mm->lock);
	flags |= mm->locked_flags;
	result = choose_address(mm, address, length, map_flags);
	if (result > 0) {
		u64 start = (u64)result;

		error = !may_expand(mm, length >> PAGE_SHIFT, flags) ? -ENOMEM
			: file || flags & VM_SHARED
				? add_mapping(mm, start, start + length, flags, file, offset)
				: add_anonymous(mm, start, start + length, flags);
		result = error ? error : result;
	}
	mm_write_unlock(mm);
	if (result > 0 && prot != PROT_NONE && (map_flags & MAP_POPULATE || flags & VM_LOCKED))
		populate(mm, (u64)result, (u64)result + length,
			 prot & PROT_WRITE && !(flags & VM_SHARED) ? FAULT_WRITE : 0);
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

/* ---- protection and locking ------------------------------------------------------------------ */

/* What the entry may allow now: writing only where no fault has to see it first. */
static void change_entry(pte_t *slot, u64 address, void *rights)
{
	const struct page *page = phys_to_page(pte_page(*slot));
	unsigned prot = *(unsigned *)rights;
	pte_t pte = xchg(slot, 0);

	(void)address;
	if (!pte_write(pte) &&
	    !(test_bit(PG_anon, &page->flags) && atomic_read(&page->refcount) == 1))
		prot &= ~MMU_WRITE;
	*slot = pte_set_prot(pte, prot);
}

static void change_entries(struct vma *vma)
{
	struct mm *mm = vma->mm;
	unsigned rights = vma_page_rights(vma);

	spin_lock(&mm->page_table_lock);
	visit_entries(mm, vma->start, vma->end, change_entry, &rights);
	mmu_flush(&mm->mmu, vma->start, vma->end);
	spin_unlock(&mm->page_table_lock);
}

static int may_change(const struct vma *vma, unsigned flags)
{
	u64 more = is_data(flags) && !is_data(vma->flags) ? vma->end - vma->start : 0;

	if ((flags & VM_WRITE && !(vma->flags & VM_MAYWRITE)) ||
	    (flags & VM_EXEC && vma->file && on_noexec(vma->file)))
		return -EACCES;
	return more && (vma->mm->data_pages << PAGE_SHIFT) + more > memory_limit(LIMIT_DATA)
		       ? -ENOMEM
		       : 0;
}

int change_flags(struct mm *mm, u64 start, u64 end, unsigned mask, unsigned flags)
{
	u64 last = mapped_end(mm, start, end);
	struct vma *vma = find_vma(mm, start);
	int error = 0;

	if (start < last && (vma->end < last || (vma->flags & mask) != flags))
		error = vma_carve(mm, start, last);
	while (start < last && !error) {
		vma = find_vma(mm, start);
		if ((vma->flags & mask) != flags)
			error = may_change(vma, (vma->flags & ~mask) | flags);
		if (!error && (vma->flags & mask) != flags) {
			vma_set_flags(vma, (vma->flags & ~mask) | flags);
			if (mask & PROT_ALL)
				change_entries(vma);
		}
		/* it may be joined with what follows: then that is so already */
		start = vma_merge(vma)->end;
	}
	if (error && start < last)
		vma_merge(find_vma(mm, last - 1));
	return error ? error : last < end ? -ENOMEM : 0;
}

int mm_protect(struct mm *mm, u64 address, u64 length, unsigned prot)
{
	bool grows_down = prot & PROT_GROWSDOWN;
	u64 end = address + page_round_up(length);
	const struct vma *vma;
	int error;

	prot &= ~(unsigned)PROT_GROWSDOWN;
	if (address & (PAGE_SIZE - 1) || prot & ~(unsigned)PROT_ALL)
		return -EINVAL;
	if (!length)
		return 0;
	if (end <= address || end > USER_TOP)
		return -ENOMEM;
	down_write(&mm->lock);
	vma = find_vma(mm, address);
	if (vma && grows_down && vma->flags & VM_GROWSDOWN && vma->start < end)
		address = vma->start;
	error = change_flags(mm, address, end, PROT_ALL, prot);
	mm_write_unlock(mm);
	return error;
}

int mm_lock(struct mm *mm, u64 address, u64 length, bool lock, bool fill)
{
	u64 start = round_down(address, (u64)PAGE_SIZE), end = page_round_up(address + length);
	int error = -ENOMEM;

	if (lock && !memory_limit(LIMIT_MEMLOCK))
		return -EPERM;
	if (end < start || end > USER_TOP)
		return end < start ? -EINVAL : -ENOMEM;
	down_write(&mm->lock);
	if (!lock || mm->locked_pages + ((end - start) >> PAGE_SHIFT) <=
			     memory_limit(LIMIT_MEMLOCK) >> PAGE_SHIFT)
		error = change_flags(mm, start, end, VM_LOCKED, lock ? VM_LOCKED : 0);
	mm_write_unlock(mm);
	if (!error && fill && populate(mm, start, end, 0))
		error = -ENOMEM;
	return error;
}

static void populate_all(struct mm *mm)
{
	u64 start, end = 0;

	do {
		const struct vma *vma;

		down_read(&mm->lock);
		vma = find_vma(mm, end);
		start = vma ? vma->start : 0;
		end = vma ? vma->end : 0;
		up_read(&mm->lock);
		populate(mm, start, end, 0);
	} while (end);
}

int mm_lock_all(struct mm *mm, unsigned flags)
{
	unsigned locked = flags & MCL_CURRENT ? VM_LOCKED : 0;
	struct vma *vma;
	int error = 0;

	if (flags && !memory_limit(LIMIT_MEMLOCK))
		return -EPERM;
	down_write(&mm->lock);
	if (locked && mm->total_pages > memory_limit(LIMIT_MEMLOCK) >> PAGE_SHIFT)
		error = -ENOMEM;
	if (!error)
		mm->locked_flags = flags & MCL_FUTURE ? VM_LOCKED : 0;
	for_each_area(vma, mm, 0, USER_TOP) {
		if (!error && (locked || !flags)) {
			vma_set_flags(vma, (vma->flags & ~VM_LOCKED) | locked);
			vma = vma_merge(vma);
		}
	}
	mm_write_unlock(mm);
	if (!error && locked && !(flags & MCL_ONFAULT))
		populate_all(mm);
	return error;
}

/* ---- the break ------------------------------------------------------------------------------- */

/* Make [start, end) part of the heap: 0 or -ENOMEM. */
static int grow_heap(struct mm *mm, u64 start, u64 end, u64 new_end)
{
	unsigned flags = VM_READ | VM_WRITE | VM_MAYWRITE | mm->locked_flags;
	u64 pages = (end - start) >> PAGE_SHIFT;

	if (pages > page_alloc_total_pages() || !may_expand(mm, pages, flags) ||
	    new_end - mm->brk_start + mm->data_end - mm->data_start > memory_limit(LIMIT_DATA) ||
	    !range_is_free(mm, start, end))
		return -ENOMEM;
	return add_anonymous(mm, start, end, flags);
}

u64 mm_brk(struct mm *mm, u64 new_end)
{
	u64 old_pages, new_pages = page_round_up(new_end);
	int error = 0;

	if (new_end < mm->brk_start || new_end > USER_TOP)
		return READ_ONCE(mm->brk_end);
	down_write(&mm->lock);
	old_pages = page_round_up(mm->brk_end);
	if (new_pages > old_pages)
		error = grow_heap(mm, old_pages, new_pages, new_end);
	else if (new_pages < old_pages)
		error = unmap_range(mm, new_pages, old_pages);
	if (!error)
		mm->brk_end = new_end;
	new_end = mm->brk_end;
	mm_write_unlock(mm);
	return new_end;
}
