/*
 * page_alloc.h - page frames: a buddy allocator with a short stack of single frames on each CPU.
 *
 * It stands in core/, below the rooms whose memory it gives out: objects (slab.h), page tables and
 * stacks (arch/), the page cache and programs' memory (mm/), the hash tables. What they do with a
 * frame it does not know but for what is in the frame's descriptor (page.h); to get frames back it
 * asks for reclaim_pages() (shrinker.h), whoever does that.
 *
 * How it is used: alloc_page() for one frame, which is counted: get_page(), put_page(), and the
 * last reference frees it. alloc_pages() for blocks, which are not: __free_pages() with the same
 * order. The hosted build has another in its place (hosted/machine/memory.c) that sees each frame's
 * lifetime.
 *
 * Locks: the per-CPU stacks are used with interrupts off, the buddy lists under one spinlock taken
 * once a batch. An allocation with GFP_KERNEL may run reclaim, and sleep;
 * GFP_ATOMIC never does.
 *
 * Watermarks (page_alloc.c): below `low` free frames GFP_KERNEL allocations reclaim first; the last
 * quarter below `min` is for GFP_ATOMIC and for who reclaims or writes back himself
 * (task->in_reclaim). Exhaustion is NULL, never a panic.
 *
 * Limits: no zones and no nodes, all frames are equal; what is in use is not moved, so large blocks
 * are for boot.
 */
#pragma once

#include "core/memory/page.h"

#define GFP_ATOMIC 0u
#define GFP_KERNEL (1u << 0) /* may sleep and reclaim */
#define GFP_ZERO (1u << 1)
#define GFP_NOWARN (1u << 3)
#define FRAME_STACK_SIZE 64 /* frames that a CPU keeps at hand, at most */
#define MAX_ORDER 19 /* largest block: 1 << 18 pages, 1 GB: for the caches' tables */

/*
 * 1 << order contiguous frames, aligned to their size; NULL when there are none after reclaim. A
 * single frame has flags 0 and refcount 1; larger blocks have refcount 0 and go back with
 * __free_pages() only.
 */
struct page *alloc_pages(unsigned gfp, unsigned order);
struct page *alloc_page(unsigned gfp); /* order 0: the fast path */

/* Give back what alloc_pages() gave (of a single frame: the last reference). Any context. */
void __free_pages(struct page *page, unsigned order);

static inline void get_page(struct page *page)
{
	atomic_inc(&page->refcount);
}

void free_single_page(struct page *page); /* refcount is 0 already */

/* Drop a reference; the last one frees the (order 0) page. Never sleeps. Any context. */
static inline void put_page(struct page *page)
{
	if (atomic_dec_and_test(&page->refcount))
		free_single_page(page);
}

/*
 * What frames are used for: counted per CPU, so a single slot may be negative; memory_use_total()
 * sums.
 * Any context: an interrupt that ends I/O frees frames and objects, and may come within another
 * call. The buffer cache counts MEMORY_BUFFER and MEMORY_DIRTY pages of its own.
 */
enum memory_use {
	MEMORY_CACHED,
	MEMORY_BUFFER,
	MEMORY_DIRTY,
	MEMORY_ANON,
	MEMORY_SHMEM,  /* pages of files in memory */
	MEMORY_SLAB,
	MEMORY_SLAB_RECLAIMABLE,
	MEMORY_PAGE_TABLES,
	MEMORY_KERNEL_STACKS,
	MEMORY_USES
};
extern struct memory_use_counts {
	s64 pages[MEMORY_USES];
} __aligned(64) memory_use_counts[NR_CPUS];

static inline void memory_use_add(enum memory_use use, s64 pages)
{
	arch_local_add(&memory_use_counts[cpu_id()].pages[use], pages);
}
u64 memory_use_total(enum memory_use use);

u64 page_alloc_free_pages(void);  /* frames free now */
u64 page_alloc_total_pages(void); /* frames that this allocator was given at boot */

/* Boot: memmap for frames below @end; then the ranges that are free. */
void page_alloc_init(phys_addr_t end);
void page_alloc_add_range(phys_addr_t start, phys_addr_t end);

/* Boot: the frame of this number is never given out, if it was free: the block around it falls into
 * smaller ones, so which blocks come first depends on what frames were held. */
void page_alloc_hold(u64 frame);

/* Boot: contiguous zeroed memory of @bytes for a hash table; NULL when there is no such stretch, or
 * little would be left. It is never given back. */
void *hash_alloc_table(u64 bytes);
