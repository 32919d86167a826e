/*
 * vma.c - the areas of an address space. Declared in vm.h and vm_internal.h.
 *
 * They do not overlap; areas.c has them in order. Where the flags of a range change (mprotect,
 * mlock), it becomes a whole number of areas by vma_carve(), then each of them is changed, then
 * vma_merge() joins what nothing tells apart any more. What comes, by vma_add(), is joined there;
 * what goes, by vma_remove(), is cut off there.
 *
 * An area that shows pages of a file is on the file's list as well (mapping->vmas), through which
 * truncation, sync and reclaim find the entries; so each page that is mapped must lie in an area on
 * that list at any time that mapping->vma_lock is free.
 */
#include "core/memory/slab.h"
#include "mm/space/vm_internal.h"

/* ---- coming and leaving ---------------------------------------------------------------------- */

/* The pages of @vma count, or (@sign: -1) no longer. */
static inline void account(const struct vma *vma, int sign)
{
	u64 pages = (u64)sign * ((vma->end - vma->start) >> PAGE_SHIFT);

	vma->mm->total_pages += pages;
	if (is_data(vma->flags))
		vma->mm->data_pages += pages;
}

struct vma *vma_create(struct mm *mm, const struct vma *wanted)
{
	struct vma *vma = kmalloc(sizeof(*vma), GFP_KERNEL);

	if (!vma)
		return NULL;
	memcpy(vma, wanted, offsetof(struct vma, link));
	vma->mm = mm;
	if (vma->file)
		mapped_files->get(vma->file);
	account(vma, 1);
	if (vma->mapping) {
		guard(spinlock, &vma->mapping->vma_lock);
		/* behind the one it is copied from: who goes through them sees what moves */
		list_add_tail(&vma->link, &vma->mapping->vmas);
	}
	return vma;
}

static int insert(struct mm *mm, const struct vma *wanted)
{
	if (mm->area_count == AREAS_MAX)
		return -ENOMEM;
	struct vma *vma = TRY_PTR(vma_create(mm, wanted));
	areas_insert(mm, vma);
	return 0;
}

/* @vma leaves, but for its place among the areas. */
static inline void leave(struct vma *vma)
{
	account(vma, -1);
	if (vma->mapping) {
		guard(spinlock, &vma->mapping->vma_lock);
		list_del(&vma->link);
	}
	list_add(&vma->link, &vma->mm->dead);
}

void mm_write_unlock(struct mm *mm)
{
	struct vma *vma, *next;
	LIST_HEAD(dead);

	list_add(&dead, &mm->dead); /* takes its place */
	list_del_init(&mm->dead);
	up_write(&mm->lock);
	list_for_each_entry_safe (vma, next, &dead, link) {
		if (vma->file)
			mapped_files->put(vma->file);
		kfree(vma);
	}
}

/* ---- changing -------------------------------------------------------------------------------- */

void vma_change(struct vma *vma, u64 start, u64 end, unsigned flags)
{
	lockdep_assert_held(&vma->mm->lock);
	/* others find it through the file alone */
	spinlock_t *lock = vma->mapping ? &vma->mapping->vma_lock : &vma->mm->page_table_lock;

	guard(spinlock, lock);
	account(vma, -1);
	vma->page_offset += (pgoff_t)((s64)(start - vma->start) >> PAGE_SHIFT);
	vma->start = start;
	vma->end = end;
	vma->flags = flags;
	account(vma, 1);
}

/* In this order each page is always in an area. */
static int split(struct vma *lower, u64 address)
{
	struct vma upper = *lower;

	upper.page_offset = vma_page_index(lower, address);
	upper.start = address;
	TRY(insert(lower->mm, &upper));
	vma_change(lower, lower->start, address, lower->flags);
	return 0;
}

/* The pages of [start, end) in @vma go. */
static inline void clear(struct vma *vma, u64 start, u64 end)
{
	if (vma->mapping || vma->has_anonymous) /* else no page was ever there */
		vma_zap(vma, start, end);
}

/* [start, end), at the upper or at the lower end of @vma, is not of it any more. */
static void cut(struct vma *vma, u64 start, u64 end)
{
	clear(vma, start, end);
	if (start > vma->start) {
		vma_change(vma, vma->start, start, vma->flags);
		areas_gap_grew(vma->above);
	} else {
		vma_change(vma, end, vma->end, vma->flags);
		areas_gap_grew(vma);
	}
}

int vma_remove(struct mm *mm, u64 start, u64 end)
{
	struct vma *first = first_area(mm, start), *behind;

	lockdep_assert_held(&mm->lock);
	if (!first || first->start >= end)
		return 0;
	if (first->start < start) {
		if (first->end > end)
			TRY(split(first, end));
		cut(first, start, min(first->end, end));
		first = first->above;
	}
	for (behind = first; behind && behind->end <= end; behind = behind->above) {
		clear(behind, behind->start, behind->end);
		leave(behind);
	}
	areas_remove(mm, first, behind);
	if (behind && behind->start < end)
		cut(behind, behind->start, end);
	return 1;
}

struct vma *vma_carve(struct mm *mm, u64 start, u64 end)
{
	struct vma *first = first_area(mm, start), *last = first;
	int error;

	lockdep_assert_held(&mm->lock);
	if (first && first->start < start) {
		error = split(first, start);
		if (error)
			return ERR_PTR(error);
		last = first = first->above;
	}
	if (last && last->end < end)
		last = first_area(mm, end);
	if (last && last->start < end && last->end > end) {
		error = split(last, end);
		if (error)
			return ERR_PTR(error);
	}
	return first;
}

u64 mapped_end(struct mm *mm, u64 start, u64 end)
{
	lockdep_assert_held(&mm->lock);
	for_each_area (vma, mm, start, end) {
		if (vma->start > start)
			break;
		start = vma->end;
	}
	return min(start, end);
}

/* Does @upper continue @lower? */
static bool can_join(const struct vma *lower, const struct vma *upper)
{
	return lower->end == upper->start && lower->flags == upper->flags &&
	       lower->file == upper->file &&
	       (!lower->mapping || vma_page_index(lower, lower->end) == upper->page_offset);
}

/* @lower takes over the area above it. In this order each page is always in an area. */
static void join(struct vma *lower, struct vma *upper)
{
	lower->has_anonymous |= upper->has_anonymous;
	vma_change(lower, lower->start, upper->end, lower->flags);
	areas_remove(lower->mm, upper, upper->above);
	leave(upper);
}

void vma_merge(struct mm *mm, u64 start, u64 end)
{
	struct vma *lower = first_area(mm, start ? start - 1 : 0);

	lockdep_assert_held(&mm->lock);
	while (lower && lower->above && lower->above->start <= end)
		if (can_join(lower, lower->above))
			join(lower, lower->above);
		else
			lower = lower->above;
}

int vma_add(struct mm *mm, const struct vma *wanted)
{
	struct vma *above = first_area(mm, wanted->start - 1), *lower = NULL;

	lockdep_assert_held(&mm->lock);
	if (above && above->end == wanted->start) {
		lower = above;
		above = above->above;
	}
	/* most often it goes below another of its kind: that grows, without an object to join */
	if (above && can_join(wanted, above)) {
		vma_change(above, wanted->start, above->end, wanted->flags);
		if (lower && can_join(lower, above))
			join(lower, above);
	} else if (lower && can_join(lower, wanted)) {
		vma_change(lower, lower->start, wanted->end, wanted->flags);
	} else {
		return insert(mm, wanted);
	}
	return 0;
}
