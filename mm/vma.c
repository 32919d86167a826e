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

static struct kmem_cache *vma_cache;

void vma_init(void)
{
	vma_cache = kmem_cache_create("vm_area", sizeof(struct vma), 8, 0);
}

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
s64 find_free_range(struct mm *mm, u64 length, u64 top)
{
	bool usual = top == mm->mmap_top;
	u64 from = usual && length >= mm->searched_length ? mm->searched_from : top;

	for (unsigned index = area_index(mm, from) + 1; index--;) {
		const struct vma *vma = index < mm->area_count ? mm->areas[index] : NULL;
		u64 floor = index ? mm->areas[index - 1]->end : LOWEST_ADDRESS, high = top;

		if (vma)
			high = min(top, vma->start);
		if (vma && vma->flags & VM_GROWSDOWN)
			high -= min(high, STACK_GAP);
		if (high < floor + length)
			continue;
		if (usual) {
			mm->searched_from = high - length;
			mm->searched_length = length;
		}
		return (s64)(high - length);
	}
	return -ENOMEM;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

/* A copy in no list, with a reference to its file. NULL: out of memory. */
static struct vma *vma_copy(struct mm *mm, const struct vma *old)
{
	struct vma *vma = kmem_cache_alloc(vma_cache, GFP_KERNEL);

	if (!vma)
		return NULL;
	*vma = *old;
	vma->mm = mm;
	if (vma->file)
		get_file(vma->file);
	return vma;
}

void vma_free(struct vma *vma)
{
	if (vma->file)
		fput(vma->file);
	kmem_cache_free(vma_cache, vma);
}

void mm_write_unlock(struct mm *mm)
{
	struct vma *vma, *next;
	LIST_HEAD(dead);

	while (!list_empty(&mm->dead))
		list_move(mm->dead.next, &dead);
	up_write(&mm->lock);
	list_for_each_entry_safe (vma, next, &dead, link)
		vma_free(vma);
}

/* @vma gets (or loses: negative) so many bytes. */
static void account(const struct vma *vma, s64 bytes)
{
	u64 pages = (u64)(bytes >> PAGE_SHIFT);

	vma->mm->total_pages += pages;
	if (is_data(vma->flags))
		vma->mm->data_pages += pages;
}

static s64 vma_bytes(const struct vma *vma)
{
	return (s64)(vma->end - vma->start);
}

void vma_link(struct vma *vma)
{
	if (!vma->mapping)
		return;
	spin_lock(&vma->mapping->vma_lock);
	list_add(&vma->link, &vma->mapping->vmas);
	spin_unlock(&vma->mapping->vma_lock);
}

void vma_unlink(struct vma *vma)
{
	if (!vma->mapping)
		return;
	spin_lock(&vma->mapping->vma_lock);
	list_del(&vma->link);
	spin_unlock(&vma->mapping->vma_lock);
}

/* Room for one more area: 0 or -ENOMEM. */
static int make_room(struct mm *mm)
{
	unsigned room = max(2 * mm->area_room, 16u);

	if (likely(mm->area_count < mm->area_room))
		return 0;
	struct vma **areas =
		mm->area_room < AREAS_MAX ? kmalloc(room * sizeof(*areas), GFP_KERNEL) : NULL;
	if (!areas)
		return -ENOMEM;
	memcpy(areas, mm->areas, mm->area_count * sizeof(*areas));
	kfree(mm->areas);
	mm->areas = areas;
	mm->area_room = room;
	return 0;
}

static void place(struct mm *mm, unsigned index, struct vma *vma)
{
	for (unsigned i = mm->area_count++; i > index; i--)
		mm->areas[i] = mm->areas[i - 1];
	mm->areas[index] = vma;
}

int vma_insert(struct mm *mm, const struct vma *wanted)
{
	TRY(make_room(mm));
	struct vma *vma = TRY_PTR(vma_copy(mm, wanted));
	place(mm, area_index(mm, vma->start), vma);
	account(vma, vma_bytes(vma));
	vma_link(vma);
	return 0;
}

/* @vma leaves, but for its place in the array. */
static void leave(struct vma *vma)
{
	account(vma, -vma_bytes(vma));
	vma_unlink(vma);
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

void vma_take_out(struct mm *mm, unsigned first, unsigned behind)
{
	for (unsigned index = first; index < behind; index++)
		leave(mm->areas[index]);
	close_up(mm, first, behind);
}

/* ---- changing -------------------------------------------------------------------------------- */

void vma_set_bounds(struct vma *vma, u64 start, u64 end)
{
	account(vma, (s64)(end - start) - vma_bytes(vma));
	lock_area_mapping(vma);
	vma->page_offset += (pgoff_t)((s64)(start - vma->start) >> PAGE_SHIFT);
	vma->start = start;
	vma->end = end;
	unlock_area_mapping(vma);
}

void vma_set_flags(struct vma *vma, unsigned flags)
{
	account(vma, -vma_bytes(vma));
	vma->flags = flags;
	account(vma, vma_bytes(vma));
}

static int split(struct mm *mm, unsigned index, u64 address)
{
	struct vma *lower = mm->areas[index];

	TRY(make_room(mm));
	struct vma *upper = TRY_PTR(vma_copy(mm, lower));
	lock_area_mapping(lower);
	upper->page_offset = vma_page_index(lower, address);
	if (upper->mapping)
		list_add(&upper->link, &upper->mapping->vmas);
	upper->start = lower->end = address;
	unlock_area_mapping(lower);
	place(mm, index + 1, upper);
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
		vma_set_bounds(lower, lower->start, upper->end);
		leave(upper);
	}
	if (last + 1 < index)
		close_up(mm, last + 1, index);
}

int vma_add(struct mm *mm, const struct vma *wanted)
{
	unsigned index = area_index(mm, wanted->start);
	struct vma *below = index ? mm->areas[index - 1] : NULL;
	struct vma *above = index < mm->area_count ? mm->areas[index] : NULL;

	if (above && can_join(wanted, above))
		vma_set_bounds(above, wanted->start, above->end);
	else if (below && can_join(below, wanted))
		vma_set_bounds(below, below->start, wanted->end);
	else
		return vma_insert(mm, wanted);
	vma_merge(mm, wanted->start, wanted->end);
	return 0;
}

int vmas_fork(struct mm *child, struct mm *parent)
{
	child->areas = TRY_PTR(kmalloc(parent->area_room * sizeof(*child->areas), GFP_KERNEL));
	child->area_room = parent->area_room;
	for (unsigned index = 0; index < parent->area_count; index++) {
		struct vma *copy = TRY_PTR(vma_copy(child, parent->areas[index]));

		child->areas[child->area_count++] = copy;
		vma_link(copy);
	}
	return 0;
}
