/*
 * vma.c - the areas of an address space. Declared in vm.h and vm_internal.h.
 *
 * mm->vmas is sorted by address and areas do not overlap. An area that shows pages of a file is on
 * the file's list as well (mapping->vmas), through which truncation, sync and reclaim find the
 * entries; so each page that is mapped must lie in an area on that list at any time that
 * mapping->vma_lock is free.
 */
#include "mm/slab.h"
#include "mm/vm_internal.h"

static struct kmem_cache *vma_cache, *shared_cache;

void vma_init(void)
{
	vma_cache = kmem_cache_create("vm_area", sizeof(struct vma), 8, 0, NULL);
	shared_cache = kmem_cache_create("shared_memory", sizeof(struct shared_memory), 8, 0, NULL);
}

/* ---- finding --------------------------------------------------------------------------------- */

struct vma *find_vma(struct mm *mm, u64 address)
{
	struct vma *vma = READ_ONCE(mm->last_hit);

	if (!vma || address < vma->start)
		vma = list_first_entry(&mm->vmas, struct vma, link);
	for (; &vma->link != &mm->vmas; vma = list_next_entry(vma, link)) {
		if (address < vma->end) {
			WRITE_ONCE(mm->last_hit, vma);
			return vma;
		}
	}
	return NULL;
}

bool range_is_free(struct mm *mm, u64 start, u64 end)
{
	const struct vma *vma = find_vma(mm, start);

	return !vma || vma->start >= end;
}

u64 find_free_range(struct mm *mm, u64 length, bool low_only)
{
	u64 top = low_only ? min(mm->mmap_top, GB(2)) : mm->mmap_top;

	for (struct list_head *link = mm->vmas.prev; link != &mm->vmas; link = link->prev) {
		const struct vma *vma = list_entry(link, struct vma, link);
		u64 floor = vma->start - min(vma->start, vma->flags & VM_GROWSDOWN ? STACK_GAP : 0);

		if (vma->end <= top && top - vma->end >= length)
			return top - length;
		top = min(top, floor);
	}
	return top >= LOWEST_ADDRESS + length ? top - length : 0;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

struct vma *vma_new(struct mm *mm, u64 start, u64 end, unsigned flags)
{
	struct vma *vma = kmem_cache_alloc(vma_cache, GFP_KERNEL);

	if (vma)
		*vma = (struct vma){.start = start, .end = end, .flags = flags, .mm = mm};
	return vma;
}

struct vma *vma_copy(struct mm *mm, const struct vma *old)
{
	struct vma *vma = kmem_cache_alloc(vma_cache, GFP_KERNEL);

	if (!vma)
		return NULL;
	*vma = *old;
	vma->mm = mm;
	if (vma->file)
		get_file(vma->file);
	if (vma->shared)
		atomic_inc(&vma->shared->refcount);
	return vma;
}

void vma_free(struct vma *vma)
{
	if (vma->file)
		fput(vma->file);
	if (vma->shared)
		shared_memory_put(vma->shared);
	kmem_cache_free(vma_cache, vma);
}

void vmas_free(struct list_head *dead)
{
	struct vma *vma, *next;

	list_for_each_entry_safe(vma, next, dead, link)
		vma_free(vma);
}

/* ---- the lists ------------------------------------------------------------------------------- */

static void insert_behind(struct vma *vma, struct list_head *link)
{
	list_add(&vma->link, link);
	vma->mm->vma_count++;
	vma->mm->total_pages += (vma->end - vma->start) >> PAGE_SHIFT;
}

void vma_insert(struct vma *vma)
{
	const struct vma *next = find_vma(vma->mm, vma->start);

	ASSERT(!next || next->start >= vma->end);
	insert_behind(vma, next ? next->link.prev : vma->mm->vmas.prev);
	if (!vma->mapping)
		return;
	spin_lock(&vma->mapping->vma_lock);
	list_add(&vma->mapping_link, &vma->mapping->vmas);
	spin_unlock(&vma->mapping->vma_lock);
}

static void take_out(struct vma *vma, struct list_head *dead)
{
	struct mm *mm = vma->mm;

	if (mm->last_hit == vma)
		mm->last_hit = NULL;
	mm->vma_count--;
	mm->total_pages -= (vma->end - vma->start) >> PAGE_SHIFT;
	list_move(&vma->link, dead);
}

void vma_remove(struct vma *vma, struct list_head *dead)
{
	take_out(vma, dead);
	if (!vma->mapping)
		return;
	spin_lock(&vma->mapping->vma_lock);
	list_del(&vma->mapping_link);
	spin_unlock(&vma->mapping->vma_lock);
}

void vma_set_bounds(struct vma *vma, u64 start, u64 end)
{
	lock_area_mapping(vma);
	vma->mm->total_pages += (end - start) >> PAGE_SHIFT;
	vma->mm->total_pages -= (vma->end - vma->start) >> PAGE_SHIFT;
	if (vma->mapping)
		vma->page_offset += (pgoff_t)((s64)(start - vma->start) >> PAGE_SHIFT);
	vma->start = start;
	vma->end = end;
	unlock_area_mapping(vma);
}

int vma_split(struct vma *vma, u64 address)
{
	struct vma *upper;

	ASSERT(address > vma->start && address < vma->end && !(address & (PAGE_SIZE - 1)));
	if (vma->mm->vma_count >= AREAS_MAX)
		return -ENOMEM;
	upper = vma_copy(vma->mm, vma);
	if (!upper)
		return -ENOMEM;
	upper->start = address;
	if (vma->mapping)
		upper->page_offset = vma_page_index(vma, address);
	lock_area_mapping(vma);
	vma->mm->total_pages -= (vma->end - address) >> PAGE_SHIFT;
	vma->end = address;
	insert_behind(upper, &vma->link);
	if (vma->mapping)
		list_add(&upper->mapping_link, &vma->mapping->vmas);
	unlock_area_mapping(vma);
	return 0;
}

/* Does @upper continue @lower? */
static bool can_join(const struct vma *lower, const struct vma *upper)
{
	if (lower->end != upper->start || lower->flags != upper->flags ||
	    lower->mapping != upper->mapping || lower->file != upper->file)
		return false;
	return !lower->mapping || vma_page_index(lower, lower->end) == upper->page_offset;
}

static void join(struct vma *lower, struct vma *upper, struct list_head *dead)
{
	lock_area_mapping(lower);
	take_out(upper, dead);
	lower->mm->total_pages += (upper->end - upper->start) >> PAGE_SHIFT;
	lower->end = upper->end;
	lower->has_anonymous |= upper->has_anonymous;
	if (lower->mapping)
		list_del(&upper->mapping_link);
	unlock_area_mapping(lower);
}

struct vma *vma_merge(struct vma *vma, struct list_head *dead)
{
	struct vma *next = vma_next(vma), *prev = vma_prev(vma);

	if (next && can_join(vma, next))
		join(vma, next, dead);
	if (!prev || !can_join(prev, vma))
		return vma;
	join(prev, vma, dead);
	return prev;
}

/* ---- memory that is shared without a file ---------------------------------------------------- */

struct shared_memory *shared_memory_create(u64 bytes)
{
	struct shared_memory *shared = kmem_cache_alloc(shared_cache, GFP_KERNEL | GFP_ZERO);

	if (!shared)
		return NULL;
	atomic_set(&shared->refcount, 1);
	shared->inode.size = (loff_t)bytes;
	address_space_init(&shared->inode.data, &shared->inode, &memory_mapping_operations);
	return shared;
}

void shared_memory_put(struct shared_memory *shared)
{
	if (!atomic_dec_and_test(&shared->refcount))
		return;
	truncate_inode_pages(&shared->inode.data, 0);
	kmem_cache_free(shared_cache, shared);
}
