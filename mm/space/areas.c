/*
 * areas.c - the areas of an address space in order: finding one, finding room for another. Declared
 * in vm.h and vm_internal.h.
 *
 * An area knows its neighbours (below, above), by which all are walked, and stands in a tree by
 * address, through which one of them is found. The tree is an AVL tree (Adelson-Velsky and Landis,
 * 1962): what hangs on the two sides of a node never differs by more than 1 in height, so that
 * 65,536 areas are at most 22 high. When an area has come or left, its parents are seen to, up to
 * the first whose height stays; where one side has become too high, a rotation or two lift its
 * middle.
 *
 * The stretch of free addresses below an area, as far as new areas may be put there, is its gap.
 * Each node has a bound, largest_gap: no gap of an area in its subtree is longer. Looking for the
 * highest gap of a length leaves out every subtree whose bound is shorter. A bound may be too high,
 * never too low. So an area that comes or grows, which makes gaps shorter, has no bounds to change
 * but for its own gap; one that leaves raises those of the area above it and its parents; and a
 * search that finds less than a bound has promised lowers it to what is there. A bound is found
 * wrong once for each time that it has become so: in the long run a search, too, takes time by the
 * height.
 *
 * hash/table/rbtree.h is the other tree of this kernel, of pages in a file: it has no gaps to know,
 * and is to be read beside the other table structures.
 *
 * Lock: mm->lock, for writing but to find. last_hit is a hint that readers set without a lock.
 */
#include "mm/space/vm_internal.h"

/* ---- what a node knows ----------------------------------------------------------------------- */

/* Where the gap below @vma ends: new areas stay below mmap_top and off what grows down. */
static u64 gap_top(const struct vma *vma)
{
	u64 top = min(vma->mm->mmap_top, vma->start);

	return vma->flags & VM_GROWSDOWN ? top - min(top, STACK_GAP) : top;
}

static u64 gap_below(const struct vma *vma)
{
	u64 top = gap_top(vma), floor = vma->below ? vma->below->end : LOWEST_ADDRESS;

	return top - min(top, floor);
}

static inline int height(const struct vma *node)
{
	return node ? node->height : 0;
}

static inline u64 largest_gap(const struct vma *node)
{
	return node ? node->largest_gap : 0;
}

static void update_gap(struct vma *node)
{
	node->largest_gap = max(gap_below(node), max(largest_gap(node->child[BELOW]),
						     largest_gap(node->child[ABOVE])));
}

/* What hangs above @node is so much higher than what hangs below it. */
static inline int update_height(struct vma *node)
{
	int below = height(node->child[BELOW]), above = height(node->child[ABOVE]);

	node->height = (u8)(1 + max(below, above));
	return above - below;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static inline void set_child(struct vma *node, enum area_side side, struct vma *child)
{
	node->child[side] = child;
	if (child)
		child->parent = node;
}

/* @node, or nothing, takes @old's place below its parent. */
static void replace(const struct vma *old, struct vma *node)
{
	struct vma *parent = old->parent;

	if (parent)
		parent->child[parent->child[ABOVE] == old] = node;
	else
		old->mm->areas = node;
	if (node)
		node->parent = parent;
}

/* @node goes down to @side; its child on the other side comes up and is returned. */
static struct vma *rotate(struct vma *node, enum area_side side)
{
	struct vma *up = node->child[!side];

	replace(node, up);
	set_child(node, !side, up->child[side]);
	set_child(up, side, node);
	update_height(node);
	update_height(up);
	up->largest_gap = node->largest_gap; /* of the same areas */
	update_gap(node);
	return up;
}

/* One side of @node has changed by 1 in height. */
static void rebalance(struct vma *node)
{
	for (; node; node = node->parent) {
		u8 before = node->height;
		int difference = update_height(node);

		if (unlikely(difference < -1 || difference > 1)) {
			enum area_side high = difference > 0 ? ABOVE : BELOW;
			struct vma *child = node->child[high];

			if (height(child->child[!high]) > height(child->child[high]))
				rotate(child, high);
			node = rotate(node, !high);
		}
		if (node->height == before)
			return;
	}
}

/* There is a gap of @gap in @node's subtree now. No bound is higher than its parent's. */
static void raise_bounds(struct vma *node, u64 gap)
{
	for (; node && node->largest_gap < gap; node = node->parent)
		node->largest_gap = gap;
}

/* ---- coming and leaving ---------------------------------------------------------------------- */

static void link_neighbours(struct vma *below, struct vma *above)
{
	if (below)
		below->above = above;
	if (above)
		above->below = below;
}

void areas_gap_grew(struct vma *vma)
{
	if (vma)
		raise_bounds(vma, gap_below(vma));
}

void areas_insert(struct mm *mm, struct vma *vma)
{
	struct vma **place = &mm->areas, *parent = NULL;

	lockdep_assert_held(&mm->lock);
	vma->below = vma->above = NULL;
	while (*place) {
		parent = *place;
		if (vma->start < parent->start) {
			vma->above = parent;
			place = &parent->child[BELOW];
		} else {
			vma->below = parent;
			place = &parent->child[ABOVE];
		}
	}
	*place = vma;
	vma->parent = parent;
	vma->child[BELOW] = vma->child[ABOVE] = NULL;
	vma->height = 1;
	link_neighbours(vma->below, vma);
	link_neighbours(vma, vma->above);
	vma->largest_gap = gap_below(vma);
	mm->area_count++;
	raise_bounds(parent, vma->largest_gap);
	rebalance(parent);
}

static void remove_one(struct mm *mm, struct vma *vma)
{
	struct vma *heir = vma->above, *changed = vma->parent;

	if (!vma->child[ABOVE]) {
		replace(vma, vma->child[BELOW]);
	} else { /* the next one above, the lowest there, takes its place */
		changed = heir->parent == vma ? heir : heir->parent;
		replace(heir, heir->child[ABOVE]);
		replace(vma, heir);
		set_child(heir, BELOW, vma->child[BELOW]);
		set_child(heir, ABOVE, vma->child[ABOVE]);
		heir->height = vma->height;
		heir->largest_gap = vma->largest_gap;
	}
	link_neighbours(vma->below, vma->above);
	areas_gap_grew(vma->above);
	rebalance(changed);
	mm->area_count--;
	if (mm->last_hit == vma)
		mm->last_hit = NULL;
}

void areas_remove(struct mm *mm, struct vma *first, const struct vma *behind)
{
	lockdep_assert_held(&mm->lock);
	if (first && !first->below && !behind) { /* all: no need to take the tree apart */
		mm->areas = mm->last_hit = NULL;
		mm->area_count = 0;
		return;
	}
	for (struct vma *next; first != behind; first = next) {
		next = first->above;
		remove_one(mm, first);
	}
}

/* A copy of @node's subtree, its areas above *last; up to where memory ended. */
static struct vma *copy_tree(struct mm *mm, const struct vma *node, struct vma **last)
{
	struct vma *below = NULL, *above = NULL, *copy;

	if (node->child[BELOW])
		below = copy_tree(mm, node->child[BELOW], last);
	copy = vma_create(mm, node);
	if (!copy)
		return below;
	swap_area_copied(copy);
	mm->area_count++;
	link_neighbours(*last, copy);
	copy->below = *last;
	copy->above = NULL;
	*last = copy;
	set_child(copy, BELOW, below);
	if (node->child[ABOVE])
		above = copy_tree(mm, node->child[ABOVE], last);
	set_child(copy, ABOVE, above);
	return copy;
}

int areas_copy(struct mm *mm, const struct mm *from)
{
	struct vma *last = NULL;

	lockdep_assert_held(&from->lock);
	if (from->areas)
		mm->areas = copy_tree(mm, from->areas, &last);
	if (mm->areas)
		mm->areas->parent = NULL;
	if (mm->area_count != from->area_count)
		return -ENOMEM;
	return 0;
}

/* ---- finding --------------------------------------------------------------------------------- */

struct vma *first_area(const struct mm *mm, u64 address)
{
	struct vma *found = NULL;

	lockdep_assert_held(&mm->lock);
	for (struct vma *node = mm->areas; node;) {
		if (address < node->end) {
			found = node;
			node = node->child[BELOW];
		} else {
			node = node->child[ABOVE];
		}
	}
	return found;
}

struct vma *find_vma(struct mm *mm, u64 address)
{
	struct vma *vma = READ_ONCE(mm->last_hit);

	lockdep_assert_held(&mm->lock);
	if (likely(vma && address < vma->end && address >= vma->start))
		return vma;
	vma = first_area(mm, address);
	if (vma)
		WRITE_ONCE(mm->last_hit, vma);
	return vma;
}

/* The highest area of @node's subtree with a gap of @length; NULL: none, and the bound says so. */
static struct vma *find_gap(struct vma *node, u64 length)
{
	struct vma *found;

	if (largest_gap(node) < length)
		return NULL;
	found = find_gap(node->child[ABOVE], length);
	if (!found && gap_below(node) >= length)
		found = node;
	if (!found)
		found = find_gap(node->child[BELOW], length);
	if (!found)
		update_gap(node);
	return found;
}

/* Where the highest area ends. */
static u64 areas_end(const struct mm *mm)
{
	const struct vma *highest = mm->areas;

	if (!highest)
		return LOWEST_ADDRESS;
	while (highest->child[ABOVE])
		highest = highest->child[ABOVE];
	return highest->end;
}

s64 find_free_range(struct mm *mm, u64 length)
{
	lockdep_assert_held(&mm->lock);
	if (areas_end(mm) + length <= mm->mmap_top)
		return (s64)(mm->mmap_top - length);
	const struct vma *above = TRY_PTR(find_gap(mm->areas, length));
	return (s64)(gap_top(above) - length);
}
