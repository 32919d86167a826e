/*
 * vm_internal.h - what the files that implement vm.h share. mm->lock is held for writing unless
 * said otherwise.
 *
 *	mm.c	an address space as a whole: made, forked, given up; clearing and copying entries
 *	areas.c	the areas in order: finding one, finding room
 *	vma.c	areas come, split, merge, leave
 *	mmap.c	the calls (mremap(2): mm/remap)
 *	fault.c	page faults; rmap.c: from a file's pages to the entries that map them
 */
#pragma once

#include "core/memory/shrinker.h"
#include "core/memory/slab.h"
#include "mm/cache/page_cache.h"
#include "mm/space/mapped_file.h"
#include "mm/space/vm.h"
#include "mm/space/swap_hooks.h"

#define AREAS_MAX 65536
#define LOWEST_ADDRESS KB(64) /* as vm.mmap_min_addr: a NULL pointer with an offset must fault */
#define STACK_GAP MB(1)	      /* below an area that grows down */

static inline u64 page_round_up(u64 bytes)
{
	return round_up(bytes, (u64)PAGE_SIZE);
}

/* Counts for RLIMIT_DATA. */
static inline bool is_data(unsigned flags)
{
	return (flags & (VM_WRITE | VM_SHARED | VM_GROWSDOWN)) == VM_WRITE;
}

/* What entries of @vma allow at most: what may be touched at all may be read; of an area that may
 * be written and run a page is the one until the next write fault and the other until the next
 * fetch (but see write_rights()). A file's page is written to only after it was marked dirty. */
static inline unsigned vma_page_rights(const struct vma *vma)
{
	unsigned rights = vma->flags & VM_RIGHTS;

	if (unlikely(rights & VM_EXEC))
		return MMU_READ | MMU_EXEC;
	return rights ? rights | MMU_READ : 0;
}
static_assert(VM_READ == MMU_READ && VM_WRITE == MMU_WRITE && VM_EXEC == MMU_EXEC, "same bits");

static inline pgoff_t vma_page_index(const struct vma *vma, u64 address)
{
	return vma->page_offset + ((address - vma->start) >> PAGE_SHIFT);
}

/* Pages of the file that @mapping is of; behind them is SIGBUS. */
static inline pgoff_t mapping_pages(const struct address_space *mapping)
{
	return ((pgoff_t)READ_ONCE(mapping->size) + PAGE_SIZE - 1) >> PAGE_SHIFT;
}

/* Call @visit for each slot of [start, end) that is not empty. The page-table lock is held. */
static __always_inline void visit_entries(struct mm *mm, u64 start, u64 end,
					  void (*visit)(pte_t *slot, u64 address, void *argument),
					  void *argument)
{
	lockdep_assert_held(&mm->page_table_lock);
	for (u64 next; start < end; start = next) {
		pte_t *slot = mmu_slot(&mm->mmu, start, MMU_FIND), *last;

		next = min(mmu_next_span(&mm->mmu, start, slot), end);
		last = slot ? slot + ((next - start) >> PAGE_SHIFT) : NULL;
		for (; slot < last; slot++) /* most are empty */
			if (*slot)
				visit(slot, next - (u64)(last - slot) * PAGE_SIZE, argument);
	}
}

/* ---- areas.c --------------------------------------------------------------------------------- */

/* The first area that ends behind @address; NULL: none does. mm->lock (any) is held. */
struct vma *first_area(const struct mm *mm, u64 address);

/* The areas from @first on that begin below @high. */
#define for_each_area_from(vma, first, high)                                                       \
	for (struct vma *vma = (first); vma && vma->start < (high); vma = vma->above)
/* The areas that have a part in [low, high). */
#define for_each_area(vma, mm, low, high) for_each_area_from (vma, first_area(mm, low), high)

/* No area overlaps [start, end). */
static inline bool range_is_free(const struct mm *mm, u64 start, u64 end)
{
	const struct vma *vma = first_area(mm, start);

	return !vma || vma->start >= end;
}

/* The highest free stretch of @length below mm->mmap_top: its address, or -ENOMEM. */
s64 find_free_range(struct mm *mm, u64 length);

/* @vma, whose start no area has, comes into the tree and between its neighbours. */
void areas_insert(struct mm *mm, struct vma *vma);
/* The areas from @first up to @behind (NULL: to the last) leave; they still know their neighbours.
 */
void areas_remove(struct mm *mm, struct vma *first, const struct vma *behind);
/* The stretch below @vma (NULL: nothing to do) has become longer. */
void areas_gap_grew(struct vma *vma);
/* Copies of all areas of @from for @mm, which has none: 0, or -ENOMEM with those made so far. */
int areas_copy(struct mm *mm, const struct mm *from);

/* ---- vma.c ----------------------------------------------------------------------------------- */

/* Where the areas that follow one another from @start on without a hole end, at most @end. */
u64 mapped_end(struct mm *mm, u64 start, u64 end);

/* A new area as @wanted says, with a reference to its file; nothing may be there. vma_add(): as
 * part of its neighbours if nothing but the bounds tells them apart; 0 or -ENOMEM. vma_create(): in
 * no tree yet; NULL: out of memory. */
struct vma *vma_create(struct mm *mm, const struct vma *wanted);
int vma_add(struct mm *mm, const struct vma *wanted);
/* Make [start, end) a whole number of areas: the first that ends behind @start, NULL: none does, or
 * ERR_PTR(-ENOMEM). */
struct vma *vma_carve(struct mm *mm, u64 start, u64 end);
/* Join the areas of [start, end] where nothing but the bounds tells them apart. */
void vma_merge(struct mm *mm, u64 start, u64 end);
/* All areas leave [start, end) with their pages, for mm->dead: 1, 0: there was none, or -ENOMEM
 * (nothing was changed). */
int vma_remove(struct mm *mm, u64 start, u64 end);
void mm_write_unlock(struct mm *mm); /* up_write(), then free what was taken out; may sleep */
DEFINE_GUARD(mm_write, struct mm, down_write(&object->lock), mm_write_unlock)
/* Move the bounds of @vma into free space, or back, which areas_gap_grew() must hear of where no
 * other area has it; change its flags. */
void vma_change(struct vma *vma, u64 start, u64 end, unsigned flags);

/* ---- mm.c ------------------------------------------------------------------------------------ */

/* Clear the entries of [start, end) in @vma, all of them, and forget the translations. mm->lock
 * (any) is held. */
void vma_zap(struct vma *vma, u64 start, u64 end);
/* The same of an area that was found through its file, of what @what says. The file's
 * mapping->vma_lock is held. */
void vma_zap_mapped(struct vma *vma, u64 start, u64 end, enum zapped what);

/* ---- mmap.c ---------------------------------------------------------------------------------- */

/* Remove all areas from [start, end), page aligned: 0 or -ENOMEM (nothing was changed). */
int unmap_range(struct mm *mm, u64 start, u64 end);

/* Do the limits allow @pages more with these flags? 0; -EAGAIN: not if they are to be locked;
 * -ENOMEM. mm->lock held. */
int may_expand(const struct mm *mm, u64 pages, unsigned flags);
