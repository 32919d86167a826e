/*
 * vm_internal.h - what the files that implement vm.h share. mm->lock is held for writing unless
 * said otherwise.
 *
 *	mm.c	an address space as a whole: made, forked, given up; clearing and copying entries
 *	vma.c	areas: find, insert, split, merge, remove
 *	mmap.c	map, unmap, protect, lock, brk; remap.c: mremap; advise.c: madvise, mincore, msync
 *	fault.c	page faults; rmap.c: from a file's pages to the entries that map them
 */
#pragma once

#include "fs/vfs.h"
#include "mm/vm.h"

#define AREAS_MAX 65530	      /* as vm.max_map_count */
#define LOWEST_ADDRESS KB(64) /* as vm.mmap_min_addr: a NULL pointer with an offset must fault */
#define STACK_GAP MB(1)	      /* below an area that grows down */

static inline bool pages_overflow(u64 address, u64 length)
{
	return length > USER_TOP || address > USER_TOP - length;
}

static inline u64 page_round_up(u64 bytes)
{
	return round_up(bytes, (u64)PAGE_SIZE);
}

/* Counts for RLIMIT_DATA. */
static inline bool is_data(unsigned flags)
{
	return (flags & (VM_WRITE | VM_SHARED | VM_GROWSDOWN)) == VM_WRITE;
}

/* What entries of @vma allow at most. A file's page is written to only after it was marked dirty.
 */
static inline unsigned vma_protection(const struct vma *vma)
{
	return vma->flags & (VM_READ | VM_WRITE | VM_EXEC);
}
/* The same for its pages' entries: what may be touched at all may be read; of an area that may be
 * written and run a page is the one until the next write fault and the other until the next fetch.
 */
static inline unsigned vma_page_rights(const struct vma *vma)
{
	unsigned rights = vma_protection(vma);

	if (unlikely(rights & VM_EXEC))
		return MMU_READ | MMU_EXEC;
	return rights ? rights | MMU_READ : 0;
}
static_assert(VM_READ == MMU_READ && VM_WRITE == MMU_WRITE && VM_EXEC == MMU_EXEC);

static inline pgoff_t vma_page_index(const struct vma *vma, u64 address)
{
	return vma->page_offset + ((address - vma->start) >> PAGE_SHIFT);
}

/* Pages of the file that @mapping is of; behind them is SIGBUS. */
static inline pgoff_t mapping_pages(const struct address_space *mapping)
{
	return ((pgoff_t)READ_ONCE(mapping->host->size) + PAGE_SIZE - 1) >> PAGE_SHIFT;
}

/* Memory that is shared without a file has an inode of no superblock, only for its mapping. */
static inline bool vma_shows_shared_memory(const struct vma *vma)
{
	return vma->mapping && !vma->mapping->host->sb;
}

static inline void lock_area_mapping(const struct vma *vma)
{
	if (vma->mapping)
		spin_lock(&vma->mapping->vma_lock);
}

static inline void unlock_area_mapping(const struct vma *vma)
{
	if (vma->mapping)
		spin_unlock(&vma->mapping->vma_lock);
}

/* Call @visit for each slot of [start, end) that is not empty. The page-table lock is held. */
static __always_inline void visit_entries(struct mm *mm, u64 start, u64 end,
					  void (*visit)(pte_t *slot, u64 address, void *argument),
					  void *argument)
{
	for (u64 next; start < end; start = next) {
		pte_t *slot = mmu_slot(&mm->mmu, start, false), *last;

		next = min(round_down(start, MMU_SLOTS_SPAN) + MMU_SLOTS_SPAN, end);
		last = slot ? slot + ((next - start) >> PAGE_SHIFT) : NULL;
		for (; slot < last; slot++) /* most are empty */
			if (*slot)
				visit(slot, next - (u64)(last - slot) * PAGE_SIZE, argument);
	}
}

/* ---- vma.c ----------------------------------------------------------------------------------- */

static inline struct vma *vma_at(const struct mm *mm, struct list_head *link)
{
	return link == &mm->vmas ? NULL : list_entry(link, struct vma, link);
}

static inline struct vma *vma_next(const struct vma *vma)
{
	return vma_at(vma->mm, vma->link.next);
}

static inline struct vma *vma_prev(const struct vma *vma)
{
	return vma_at(vma->mm, vma->link.prev);
}

/* The areas that have a part in [start, end). */
#define for_each_area(vma, mm, low, high)                                                          \
	for (vma = find_vma(mm, low); vma && vma->start < (high); vma = vma_next(vma))

/* A blank area that is in no list, or a copy of @vma with references of its own. NULL: out of
 * memory. */
struct vma *vma_new(struct mm *mm, u64 start, u64 end, unsigned flags);
struct vma *vma_copy(struct mm *mm, const struct vma *vma);
void vma_free(struct vma *vma); /* drops its references: without mm->lock, may sleep */

void vma_insert(struct vma *vma);
void vma_remove(struct vma *vma);    /* to mm->dead */
void mm_write_unlock(struct mm *mm); /* up_write(), then free what was removed; may sleep */
/* Make @start and @end boundaries of areas: 0 or -ENOMEM. */
int vma_carve(struct mm *mm, u64 start, u64 end);
/* Join @vma with its neighbours where nothing but the bounds tells them apart; what remains. */
struct vma *vma_merge(struct vma *vma);
/* Move bounds of @vma into free space, or back; change its flags. */
void vma_set_bounds(struct vma *vma, u64 start, u64 end);
void vma_set_flags(struct vma *vma, unsigned flags);
/* Copies of all areas of @parent, which is locked, for the empty @child: 0 or -ENOMEM. */
int vmas_fork(struct mm *child, struct mm *parent);
/* No area overlaps [start, end). */
bool range_is_free(struct mm *mm, u64 start, u64 end);
/* Where the areas that follow one another from @start on without a hole end, at most @end. */
u64 mapped_end(struct mm *mm, u64 start, u64 end);
/* The highest free stretch of @length below @top: its address, or -ENOMEM. */
s64 find_free_range(struct mm *mm, u64 length, u64 top);

/* ---- mm.c ------------------------------------------------------------------------------------ */

/* Clear all entries of [start, end) in @vma and forget the translations. mm->lock (any) or vma_lock
 * is held. */
void vma_zap(struct vma *vma, u64 start, u64 end);
/* A page of a shared file area was written to: pass it on to the page. The page-table lock is held.
 */
static inline void note_dirty_entry(struct page *page)
{
	if (!test_bit(PG_dirty_all, &page->flags))
		set_bit(PG_dirty_all, &page->flags);
	set_page_dirty(page);
}

/* ---- mmap.c ---------------------------------------------------------------------------------- */

/* Remove all areas from [start, end), page aligned: 0 or -ENOMEM (nothing was changed). */
int unmap_range(struct mm *mm, u64 start, u64 end);
/* Do the limits allow @pages more with these flags? Refused as well is what could never be backed,
 * as Linux's overcommit 0 does. */
bool may_expand(const struct mm *mm, u64 pages, unsigned flags);
/* Give the areas of [start, end) other flags: the bits of @mask become those of @flags. As far as
 * there are areas and it is allowed; 0, -EACCES, or -ENOMEM (there is a hole, too). */
int change_flags(struct mm *mm, u64 start, u64 end, unsigned mask, unsigned flags);
/* Fault [start, end) in, as far as that goes. Without mm->lock. 0 or what mm_fault() said. */
int populate(struct mm *mm, u64 start, u64 end, unsigned access);

void vma_init(void);

/* kernel/proc: end the process whose end gives the most memory (SIGKILL); false: there is none. */
bool oom_kill(void);
