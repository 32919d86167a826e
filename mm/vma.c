/*
 * vma.c - the areas of an address space. Declared in vm.h and vm_internal.h.
 *
 * mm->vmas is sorted by address and areas do not overlap. mm->tree has the same areas as a treap: a
 * search tree by address in which an area of higher (random) priority stands above; its depth is
 * logarithmic with near certainty, and inserting and removing are one loop each. No free stretch
 * below an area or below one under it in the tree is wider than its `widest`, which finds room for
 * a mapping: the bound is raised when a stretch grows, and lowered by who looked there in vain.
 *
 * An area that shows pages of a file is on the file's list as well (mapping->vmas), through which
 * truncation, sync and reclaim find the entries; so each page that is mapped must lie in an area on
 * that list at any time that mapping->vma_lock is free.
 */
#include "mm/vm_internal.h"

static struct kmem_cache *vma_cache;

void vma_init(void)
{
	vma_cache = kmem_cache_create("vm_area", sizeof(struct vma), 8, 0, NULL);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static u64 floor_below(const struct vma *vma)
{
	const struct vma *below = vma_prev(vma);

	return below ? below->end : LOWEST_ADDRESS;
}

static u64 gap_top(const struct vma *vma)
{
	return vma->start - (vma->flags & VM_GROWSDOWN ? min(vma->start, STACK_GAP) : 0);
}

static u64 gap_below(const struct vma *vma)
{
	u64 low = floor_below(vma), high = gap_top(vma);

	return high > low ? high - low : 0;
}

/* The stretch below @vma may have grown. Nothing above @vma has a smaller bound than it. */
static void tree_grow_gap(struct mm *mm, const struct vma *vma)
{
	u64 gap = gap_below(vma);
	struct vma *top = mm->tree;

	for (; gap > vma->widest; top = vma->start < top->start ? top->left : top->right)
		top->widest = max(top->widest, gap);
}

static void tree_insert(struct mm *mm, struct vma *vma)
{
	struct vma **link = &mm->tree, **low = &vma->left, **high = &vma->right, *top;
	u64 gap = gap_below(vma);

	while ((top = *link) && top->priority >= vma->priority) {
		top->widest = max(top->widest, gap);
		link = vma->start < top->start ? &top->left : &top->right;
	}
	vma->widest = top ? max(top->widest, gap) : gap;
	*link = vma;
	while (top) { /* divide what was there */
		if (top->start < vma->start) {
			*low = top;
			low = &top->right;
			top = top->right;
		} else {
			*high = top;
			high = &top->left;
			top = top->left;
		}
	}
	*low = *high = NULL;
}

static void tree_remove(struct mm *mm, const struct vma *vma)
{
	struct vma **link = &mm->tree, *low = vma->left, *high = vma->right;

	while (*link != vma)
		link = vma->start < (*link)->start ? &(*link)->left : &(*link)->right;
	while (low && high) {
		u64 widest = max(low->widest, high->widest);

		if (low->priority > high->priority) {
			low->widest = widest;
			*link = low;
			link = &low->right;
			low = low->right;
		} else {
			high->widest = widest;
			*link = high;
			link = &high->left;
			high = high->left;
		}
	}
	*link = low ? low : high;
}

/* ---- finding --------------------------------------------------------------------------------- */

struct vma *find_vma(struct mm *mm, u64 address)
{
	struct vma *vma = READ_ONCE(mm->last_hit), *found = NULL;

	if (likely(vma && address < vma->end && address >= vma->start))
		return vma;
	for (vma = mm->tree; vma;) {
		if (address < vma->end) {
			found = vma;
			vma = address < vma->start ? vma->left : NULL;
		} else {
			vma = vma->right;
		}
	}
	if (found)
		WRITE_ONCE(mm->last_hit, found);
	return found;
}

bool range_is_free(struct mm *mm, u64 start, u64 end)
{
	const struct vma *vma = find_vma(mm, start);

	return !vma || vma->start >= end;
}

u64 mapped_end(struct mm *mm, u64 start, u64 end)
{
	const struct vma *vma;

	for_each_area(vma, mm, start, end) {
		if (vma->start > start)
			break;
		start = vma->end;
	}
	return min(start, end);
}

/* The highest stretch of @length below @top that ends at or before an area under @vma; 0: none. */
static u64 highest_fit(struct vma *vma, u64 length, u64 top)
{
	u64 found = 0, high;

	if (!vma || vma->widest < length)
		return 0;
	if (vma->end < top)
		found = highest_fit(vma->right, length, top);
	high = min(top, gap_top(vma));
	if (!found && high >= floor_below(vma) + length)
		found = high - length;
	if (!found)
		found = highest_fit(vma->left, length, top);
	if (!found) {
		vma->widest = gap_below(vma);
		if (vma->left)
			vma->widest = max(vma->widest, vma->left->widest);
		if (vma->right)
			vma->widest = max(vma->widest, vma->right->widest);
	}
	return found;
}

s64 find_free_range(struct mm *mm, u64 length, u64 top)
{
	u64 floor = list_empty(&mm->vmas) ? LOWEST_ADDRESS
					  : list_last_entry(&mm->vmas, struct vma, link)->end;
	u64 found = top >= floor + length ? top - length : highest_fit(mm->tree, length, top);

	return found ? (s64)found : -ENOMEM;
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
	if (vma_shows_shared_memory(vma))
		ihold(vma->mapping->host);
	return vma;
}

static void shared_memory_put(struct inode *inode)
{
	if (!atomic_dec_and_test(&inode->refcount))
		return;
	truncate_inode_pages(&inode->data, 0);
	kfree(inode);
}

void vma_free(struct vma *vma)
{
	if (vma_shows_shared_memory(vma))
		shared_memory_put(vma->mapping->host);
	if (vma->file)
		fput(vma->file);
	kmem_cache_free(vma_cache, vma);
}

void mm_write_unlock(struct mm *mm)
{
	struct vma *vma, *next;
	LIST_HEAD(dead);

	list_splice_init(&mm->dead, &dead);
	up_write(&mm->lock);
	list_for_each_entry_safe(vma, next, &dead, link)
		vma_free(vma);
}

/* ---- changing -------------------------------------------------------------------------------- */

static s64 vma_bytes(const struct vma *vma)
{
	return (s64)(vma->end - vma->start);
}

/* @vma gets (or loses: negative) so many bytes. */
static void account(const struct vma *vma, s64 bytes)
{
	u64 pages = (u64)(bytes >> PAGE_SHIFT);
	struct mm *mm = vma->mm;

	mm->total_pages += pages;
	if (is_data(vma->flags))
		mm->data_pages += pages;
	if (vma->flags & VM_LOCKED)
		mm->locked_pages += pages;
}

static void link_area(struct vma *vma, struct list_head *before)
{
	static u64 random; /* a race costs nothing */
	struct mm *mm = vma->mm;

	list_add_tail(&vma->link, before);
	random = random * 6364136223846793005ULL + 1442695040888963407ULL;
	vma->priority = (u32)(random >> 32);
	tree_insert(mm, vma);
	mm->vma_count++;
}

static void link_mapping(struct vma *vma)
{
	if (!vma->mapping)
		return;
	spin_lock(&vma->mapping->vma_lock);
	list_add(&vma->mapping_link, &vma->mapping->vmas);
	spin_unlock(&vma->mapping->vma_lock);
}

void vma_insert(struct vma *vma)
{
	struct vma *next = find_vma(vma->mm, vma->start);

	ASSERT(!next || next->start >= vma->end);
	link_area(vma, next ? &next->link : &vma->mm->vmas);
	account(vma, vma_bytes(vma));
	link_mapping(vma);
}

void vma_remove(struct vma *vma)
{
	struct vma *next = vma_next(vma);
	struct mm *mm = vma->mm;

	account(vma, -vma_bytes(vma));
	mm->vma_count--;
	if (mm->last_hit == vma)
		mm->last_hit = NULL;
	list_move(&vma->link, &mm->dead);
	tree_remove(mm, vma);
	if (next)
		tree_grow_gap(mm, next);
	lock_area_mapping(vma);
	if (vma->mapping)
		list_del(&vma->mapping_link);
	unlock_area_mapping(vma);
}

void vma_set_bounds(struct vma *vma, u64 start, u64 end)
{
	const struct vma *next = vma_next(vma);

	account(vma, (s64)(end - start) - vma_bytes(vma));
	lock_area_mapping(vma);
	if (vma->mapping)
		vma->page_offset += (pgoff_t)((s64)(start - vma->start) >> PAGE_SHIFT);
	vma->start = start;
	vma->end = end;
	unlock_area_mapping(vma);
	tree_grow_gap(vma->mm, vma);
	if (next)
		tree_grow_gap(vma->mm, next);
}

void vma_set_flags(struct vma *vma, unsigned flags)
{
	account(vma, -vma_bytes(vma));
	vma->flags = flags;
	account(vma, vma_bytes(vma));
}

static int split(struct vma *vma, u64 address)
{
	struct vma *upper;

	if (vma->mm->vma_count >= AREAS_MAX)
		return -ENOMEM;
	upper = vma_copy(vma->mm, vma);
	if (!upper)
		return -ENOMEM;
	lock_area_mapping(vma);
	if (vma->mapping) {
		upper->page_offset = vma_page_index(vma, address);
		list_add(&upper->mapping_link, &vma->mapping->vmas);
	}
	upper->start = vma->end = address;
	unlock_area_mapping(vma);
	link_area(upper, vma->link.next);
	return 0;
}

int vma_carve(struct mm *mm, u64 start, u64 end)
{
	struct vma *vma = find_vma(mm, start);

	if (vma && vma->start < start && split(vma, start))
		return -ENOMEM;
	vma = find_vma(mm, end - 1);
	return vma && vma->start < end && vma->end > end ? split(vma, end) : 0;
}

/* Does @upper continue @lower? */
static bool can_join(const struct vma *lower, const struct vma *upper)
{
	if (lower->end != upper->start || lower->flags != upper->flags ||
	    lower->mapping != upper->mapping || lower->file != upper->file)
		return false;
	return !lower->mapping || vma_page_index(lower, lower->end) == upper->page_offset;
}

/* In this order each page is always in an area. */
static void join(struct vma *lower, struct vma *upper)
{
	lower->has_anonymous |= upper->has_anonymous;
	vma_set_bounds(lower, lower->start, upper->end);
	vma_remove(upper);
}

struct vma *vma_merge(struct vma *vma)
{
	struct vma *next = vma_next(vma), *prev = vma_prev(vma);

	if (next && can_join(vma, next))
		join(vma, next);
	if (!prev || !can_join(prev, vma))
		return vma;
	join(prev, vma);
	return prev;
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* The copy of the tree @old; *error: it is not whole. */
static struct vma *copy_tree(struct mm *child, const struct vma *old, int *error)
{
	struct vma *left, *copy;

	if (!old)
		return NULL;
	left = copy_tree(child, old->left, error);
	copy = *error ? NULL : vma_copy(child, old);
	if (!copy) {
		*error = -ENOMEM;
		return left;
	}
	copy->flags &= ~VM_LOCKED; /* is not inherited */
	copy->has_anonymous &= !(copy->flags & VM_WIPEONFORK);
	list_add_tail(&copy->link, &child->vmas);
	child->vma_count++;
	account(copy, vma_bytes(copy));
	link_mapping(copy);
	copy->left = left;
	copy->right = copy_tree(child, old->right, error);
	return copy;
}

int vmas_fork(struct mm *child, struct mm *parent)
{
	struct vma *vma, *next;
	int error = 0;

	child->tree = copy_tree(child, parent->tree, &error);
	list_for_each_entry_safe(vma, next, &child->vmas, link) {
		if (!error && vma->flags & VM_DONTFORK) {
			vma_remove(vma);
			list_del(&vma->link);
			vma_free(vma); /* no last reference: the parent has them too */
		}
	}
	return error;
}
