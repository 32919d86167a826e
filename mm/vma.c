/*
 * vma.c - the areas of an address space. Declared in vm.h and vm_internal.h.
 *
 * mm->areas has them by address, as an array: found by halving, walked by counting, and a new one
 * moves those above it up by one pointer. They do not overlap. A range of addresses becomes a whole
 * number of areas by vma_carve(), then each of them is changed, then vma_merge() joins what nothing
 * tells apart any more: all calls that change areas work so.
 *
 * An area that shows pages of a file is on the file's list as well (mapping->vmas), through which
 * truncation, sync and reclaim find the entries; so each page that is mapped must lie in an area on
 * that list at any time that mapping->vma_lock is free.
 */
#include "mm/vm_internal.h"

/* ---- finding --------------------------------------------------------------------------------- */

unsigned area_index(const struct mm *mm, u64 address)
{
	unsigned low = 0, high = mm->area_count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (mm->areas[middle]->end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct vma *find_vma(struct mm *mm, u64 address)
{
	struct vma *vma = READ_ONCE(mm->last_hit);

	if (likely(vma && address < vma->end && address >= vma->start))
		return vma;
	unsigned index = area_index(mm, address);
	if (index == mm->area_count)
		return NULL;
	vma = mm->areas[index];
	WRITE_ONCE(mm->last_hit, vma);
	return vma;
}

u64 mapped_end(struct mm *mm, u64 start, u64 end)
{
	for_each_area (index, mm, start, end) {
		if (mm->areas[index]->start > start)
			break;
		start = mm->areas[index]->end;
	}
	return min(start, end);
}

/* All free stretches from mm->searched_from on are shorter than mm->searched_length. */
s64 find_free_range(struct mm *mm, u64 length)
{
	u64 from = length >= mm->searched_length ? mm->searched_from : mm->mmap_top;

	for (unsigned index = area_index(mm, from) + 1; index--;) {
		const struct vma *vma = index < mm->area_count ? mm->areas[index] : NULL;
		u64 floor = index ? mm->areas[index - 1]->end : LOWEST_ADDRESS;
		u64 high = vma ? min(mm->mmap_top, vma->start) : mm->mmap_top;

		if (vma && vma->flags & VM_GROWSDOWN)
			high -= min(high, STACK_GAP);
		if (high < floor + length)
			continue;
		mm->searched_length = length;
		return (s64)(mm->searched_from = high - length);
	}
	return -ENOMEM;
}

/* ---- coming and leaving ---------------------------------------------------------------------- */

/* The pages of @vma count, or (@sign: -1) no longer. */
static inline void account(const struct vma *vma, int sign)
{
	u64 pages = (u64)sign * ((vma->end - vma->start) >> PAGE_SHIFT);

	vma->mm->total_pages += pages;
	if (is_data(vma->flags))
		vma->mm->data_pages += pages;
}

/* Room for more areas: 0 or -ENOMEM. */
static noinline int make_room(struct mm *mm)
{
	unsigned room = max(2 * mm->area_room, 16u);

	if (room > AREAS_MAX)
		return -ENOMEM;
	struct vma **areas = TRY_PTR(kmalloc(room * sizeof(*areas), GFP_KERNEL));
	memcpy(areas, mm->areas, mm->area_count * sizeof(*areas));
	kfree(mm->areas);
	mm->areas = areas;
	mm->area_room = room;
	return 0;
}

int vma_insert(struct mm *mm, unsigned index, const struct vma *wanted)
{
	if (unlikely(mm->area_count == mm->area_room))
		TRY(make_room(mm));
	struct vma *vma = TRY_PTR(kmalloc(sizeof(*vma), GFP_KERNEL));
	*vma = *wanted;
	vma->mm = mm;
	if (vma->file)
		get_file(vma->file);
	account(vma, 1);
	for (unsigned i = mm->area_count++; i > index; i--)
		mm->areas[i] = mm->areas[i - 1];
	mm->areas[index] = vma;
	if (vma->mapping) {
		guard(spinlock, &vma->mapping->vma_lock);
		list_add(&vma->link, &vma->mapping->vmas);
	}
	return 0;
}

/* @vma leaves, but for its place in the array. */
static inline void leave(struct vma *vma)
{
	account(vma, -1);
	if (vma->mapping) {
		guard(spinlock, &vma->mapping->vma_lock);
		list_del(&vma->link);
	}
	list_add(&vma->link, &vma->mm->dead);
}

/* The places with these indices go. */
static void close_up(struct mm *mm, unsigned first, unsigned behind)
{
	for (unsigned index = behind; index < mm->area_count; index++)
		mm->areas[index - behind + first] = mm->areas[index];
	mm->area_count -= behind - first;
	mm->last_hit = NULL;
	/* what is free now ends there, or the search would have gone on */
	mm->searched_from =
		max(mm->searched_from, first < mm->area_count ? mm->areas[first]->start : USER_TOP);
}

int vma_remove(struct mm *mm, u64 start, u64 end)
{
	unsigned first = (unsigned)TRY(vma_carve(mm, start, end)), behind = first;

	for (; behind < mm->area_count && mm->areas[behind]->start < end; behind++) {
		struct vma *vma = mm->areas[behind];

		vma_zap(vma, vma->start, vma->end, true);
		leave(vma);
	}
	close_up(mm, first, behind);
	return 0;
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
			fput(vma->file);
		kfree(vma);
	}
}

/* ---- changing -------------------------------------------------------------------------------- */

void vma_change(struct vma *vma, u64 start, u64 end, unsigned flags)
{
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
static int split(struct mm *mm, unsigned index, u64 address)
{
	struct vma *lower = mm->areas[index], upper = *lower;

	upper.page_offset = vma_page_index(lower, address);
	upper.start = address;
	TRY(vma_insert(mm, index + 1, &upper));
	vma_change(lower, lower->start, address, lower->flags);
	return 0;
}

int vma_carve(struct mm *mm, u64 start, u64 end)
{
	unsigned first = area_index(mm, start);

	if (first < mm->area_count && mm->areas[first]->start < start)
		TRY(split(mm, first++, start));
	unsigned last = area_index(mm, end);
	if (last < mm->area_count && mm->areas[last]->start < end)
		TRY(split(mm, last, end));
	return (int)first;
}

/* Does @upper continue @lower? */
static bool can_join(const struct vma *lower, const struct vma *upper)
{
	return lower->end == upper->start && lower->flags == upper->flags &&
	       lower->file == upper->file &&
	       (!lower->mapping || vma_page_index(lower, lower->end) == upper->page_offset);
}

/* In this order each page is always in an area. The array is closed up once, however many go. */
void vma_merge(struct mm *mm, u64 start, u64 end)
{
	unsigned last = area_index(mm, start - 1), index = last + 1;

	for (; index < mm->area_count && mm->areas[index]->start <= end; index++) {
		struct vma *lower = mm->areas[last], *upper = mm->areas[index];

		if (!can_join(lower, upper)) {
			mm->areas[++last] = upper;
			continue;
		}
		lower->has_anonymous |= upper->has_anonymous;
		vma_change(lower, lower->start, upper->end, lower->flags);
		leave(upper);
	}
	if (last + 1 < index)
		close_up(mm, last + 1, index);
}

int vma_add(struct mm *mm, const struct vma *wanted)
{
	unsigned index = area_index(mm, wanted->start);

	/* most often it goes below another of its kind: that grows, without an object to merge */
	if (index < mm->area_count && can_join(wanted, mm->areas[index]))
		vma_change(mm->areas[index], wanted->start, mm->areas[index]->end, wanted->flags);
	else
		TRY(vma_insert(mm, index, wanted));
	vma_merge(mm, wanted->start, wanted->end);
	return 0;
}
