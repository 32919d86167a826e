/*
 * vm_internal.h - what the files that implement vm.h share. mm->lock is held for writing unless
 * said otherwise.
 *
 *	mm.c	an address space as a whole: made, forked, given up; clearing and copying entries
 *	vma.c	areas: find, insert, split, merge, remove
 *	mmap.c	map, unmap, protect, brk; remap.c: mremap; advise.c: madvise, msync
 *	fault.c	page faults; rmap.c: from a file's pages to the entries that map them
 */
#pragma once

#include "fs/vfs.h"
#include "kernel/core/assert.h"
#include "kernel/core/errno.h"
#include "mm/vm.h"

#define AREAS_MAX 65530		/* as vm.max_map_count */
#define LOWEST_ADDRESS KB(64)	/* as vm.mmap_min_addr: a NULL pointer with an offset must fault */
#define STACK_GAP MB(1)		/* below an area that grows down */

/* Memory that is shared without a file. Its inode is of no superblock: it bears the mapping and the
 * size. */
struct shared_memory {
	atomic_t refcount;
	struct inode inode;
};

static inline bool pages_overflow(u64 address, u64 length)
{
	return length > USER_TOP || address > USER_TOP - length;
}

static inline u64 page_round_up(u64 bytes)
{
	return round_up(bytes, (u64)PAGE_SIZE);
}

/* What entries of @vma allow at most. A file's page is written to only after it was marked dirty.
 */
static inline unsigned vma_protection(const struct vma *vma)
{
	return vma->flags & (VM_READ | VM_WRITE | VM_EXEC);
}
/* The same for its pages' entries: what may be touched at all may be read. */
static inline unsigned vma_page_rights(const struct vma *vma)
{
	unsigned rights = vma_protection(vma);

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

/* ---- vma.c ----------------------------------------------------------------------------------- */

static inline struct vma *vma_next(struct vma *vma)
{
	return vma->link.next == &vma->mm->vmas ? NULL : list_next_entry(vma, link);
}

static inline struct vma *vma_prev(struct vma *vma)
{
	return vma->link.prev == &vma->mm->vmas ? NULL
						: list_entry(vma->link.prev, struct vma, link);
}

/* A blank area that is in no list, or a copy of @vma with references of its own. NULL: out of
 * memory. */
struct vma *vma_new(struct mm *mm, u64 start, u64 end, unsigned flags);
struct vma *vma_copy(struct mm *mm, const struct vma *vma);
void vma_free(struct vma *vma); /* drops its references: without mm->lock, may sleep */

void vma_insert(struct vma *vma);
/* Out of the lists, to @dead: vmas_free() frees them when mm->lock has been let go. */
void vma_remove(struct vma *vma, struct list_head *dead);
void vmas_free(struct list_head *dead);
/* Make @address, which lies inside, a boundary: 0 or -ENOMEM. @vma keeps the lower part. */
int vma_split(struct vma *vma, u64 address);
/* Join @vma with its neighbours where nothing but the bounds tells them apart; what remains. */
struct vma *vma_merge(struct vma *vma, struct list_head *dead);
/* Move bounds of @vma into free space, or back. */
void vma_set_bounds(struct vma *vma, u64 start, u64 end);
/* No area overlaps [start, end). */
bool range_is_free(struct mm *mm, u64 start, u64 end);
/* The highest free stretch of @length below mm->mmap_top (@low_only: below 2 GB): its address, or
 * 0. */
u64 find_free_range(struct mm *mm, u64 length, bool low_only);

struct shared_memory *shared_memory_create(u64 bytes); /* NULL: out of memory */
void shared_memory_put(struct shared_memory *shared);  /* may sleep */

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
int unmap_range(struct mm *mm, u64 start, u64 end, struct list_head *dead);
/* May a mapping of @pages more be made? Refuses what could never be backed, as Linux's overcommit 0
 * does. */
bool may_commit(u64 pages);

void vma_init(void);

/* kernel/proc: end the process whose end gives the most memory (SIGKILL); false: there is none. */
bool oom_kill(void);
