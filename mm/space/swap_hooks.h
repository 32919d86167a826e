/*
 * swap_hooks.h - what the rest of mm/, and who looks at programs' memory, asks of swap: entries of
 * page tables that name a slot of a swap area instead of a frame. Without SWAP there are none, and
 * nothing of this is left in the object code.
 *
 * A swap entry is a number, type << 1 | slot << 8, as in Linux 2.2 on a PC: which of the areas, and
 * which page of it. It is never 0, since slot 0 is an area's header. What it is for swap itself:
 * mm/swap/swap.h.
 */
#pragma once

#include "mm/cache/page_cache.h"
#include "mm/space/vm.h"

#ifdef CONFIG_SWAP

#define VM_LOCKED (1u << 9) /* the pages of an area (VM_* of vm.h) stay in memory */

/* Of swap entries: the pages of all areas, those not in use, those of the swap cache. Any context.
 */
u64 swap_total_pages(void);
u64 swap_free_pages(void);
u64 swap_cached_pages(void);
static inline u64 mm_swapped_pages(const struct mm *mm)
{
	return READ_ONCE(mm->swapped_pages);
}

/* The entry @pte is of a page that is swapped out. */
static inline bool pte_is_swap(pte_t pte)
{
	return unlikely(pte && !pte_present(pte));
}

/* Some page may be swapped out, somewhere; also to an area that swapoff empties. */
bool swap_in_use(void);

/* ---- faults; mm->lock is held, they may sleep ------------------------------------------------ */

/* The page at @address of @vma, whose entry is @pte, comes back: 0: try again; -ENOMEM, -EIO. */
int swap_in(struct vma *vma, u64 address, pte_t pte, unsigned access);
/* The anonymous @page, which one entry maps and the caller has a reference to, is written to. Does
 * nobody else want it, in memory or swapped out? Then it is in the swap cache no more. */
bool swap_reuse(struct page *page);
/* Memory is out: may waiting help, because there is room to swap to, and pages that can be? */
bool swap_may_help(void);

/* ---- entries; mm->page_table_lock is held ---------------------------------------------------- */

/* *@slot is a swap entry, which goes, if @what says so. */
void swap_zap(struct mm *mm, pte_t *slot, enum zapped what);
/* An entry that mapped the anonymous @page has gone, its reference not yet: if nobody else wants
 * the page, it leaves the swap cache. */
void swap_page_unmapped(struct page *page);
/* fork: if @pte is a swap entry, @to, of @child, becomes one, too, and the answer is true. */
bool swap_copy(struct mm *child, pte_t *to, pte_t pte);

/* ---- address spaces -------------------------------------------------------------------------- */

/* @mm is complete: a program is going to run in it. From now on its pages are swapped out. */
void swap_mm_add(struct mm *mm);
/* Nobody runs in it any more. Sleeps, until swap does not look at it. */
void swap_mm_gone(struct mm *mm);
/* fork made @vma as a copy: locks are not inherited. */
static inline void swap_area_copied(struct vma *vma)
{
	vma->flags &= ~VM_LOCKED;
}
/* Its pages were promised to stay. */
static inline bool swap_area_locked(const struct vma *vma)
{
	return vma->flags & VM_LOCKED;
}
/* May @mm have @pages more with @flags, as to RLIMIT_MEMLOCK? mm->lock is held. */
bool swap_may_lock(const struct mm *mm, u64 pages, unsigned flags);
/* The flags of new areas of @mm: VM_LOCKED after mlockall(MCL_FUTURE). mm->lock is held. */
static inline unsigned swap_area_flags(const struct mm *mm)
{
	lockdep_assert_held(&mm->lock);
	return mm->locks_future ? VM_LOCKED : 0;
}

/* ---- the page cache -------------------------------------------------------------------------- */

extern struct address_space swap_space;
void swap_put(u64 entry); /* swap.h */

#ifdef CONFIG_SWAP_TABLE_OWN
#define is_swap_in_page_table(mapping) false
/* The locked page leaves the swap cache's own table: true; or @when has it stay. */
bool swap_unhash(struct page *page, enum unhashed when);
extern struct hash_cache swap_cache_hash;
#else
#define is_swap_in_page_table(mapping) ((mapping) == &swap_space)
#endif

/* ---- files in memory (mm/swap/shmem.c) ------------------------------------------------------- */

/* The locked page of such a file, if it is not uptodate and has been swapped out, is read: 1, or
 * -EIO. 0: it is, or has not. Sleeps. */
int swap_shmem_in(struct page *page);
/* The page at @index, referenced, if it is swapped out and can be read; else NULL. Sleeps. */
struct page *swap_shmem_get(struct address_space *mapping, pgoff_t index);
extern spinlock_t shmem_lock; /* while it is held no page is swapped out or in */
/* The first page from @index on that is swapped out, or @next, if that comes first. shmem_lock is
 * held. */
pgoff_t swap_shmem_next(const struct address_space *mapping, pgoff_t index, pgoff_t next);
/* Pages of [first, last] that are swapped out are gone, and until swap_shmem_truncated() no page of
 * @mapping is swapped out. Of any file: nothing is done for one on a disk. */
void swap_shmem_truncate(struct address_space *mapping, pgoff_t first, pgoff_t last);
void swap_shmem_truncated(struct address_space *mapping);

/* @page, unhashed, leaves @mapping. */
static inline void swap_page_left(const struct page *page, const struct address_space *mapping)
{
	if (mapping == &swap_space)
		swap_put(page->index);
}

#else

#define swap_total_pages() 0
#define swap_free_pages() 0
#define swap_cached_pages() 0
#define mm_swapped_pages(mm) 0ULL
#define pte_is_swap(pte) false
#define swap_in_use() false
#define swap_in(vma, address, pte, access) 0
#define swap_reuse(page) false
#define swap_may_help() false
#define swap_zap(mm, slot, what) ((void)0)
#define swap_page_unmapped(page) ((void)0)
#define swap_copy(child, to, pte) false
#define swap_mm_add(mm) ((void)0)
#define swap_mm_gone(mm) ((void)0)
#define swap_area_copied(vma) ((void)0)
#define swap_area_flags(mm) 0u
#define swap_may_lock(mm, pages, flags) true
#define swap_area_locked(vma) false
#define swap_page_left(page, mapping) ((void)0)
#define swap_shmem_in(page) 0
#define swap_shmem_get(mapping, index) NULL
#define swap_shmem_next(mapping, index, next) (next)
#define swap_shmem_truncate(mapping, first, last) ((void)0)
#define swap_shmem_truncated(mapping) ((void)0)

#endif
