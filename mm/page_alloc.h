/*
 * page_alloc.h - page frames: a buddy allocator with a short list of single frames on each CPU.
 *
 * Locks: the per-CPU lists are used with interrupts off, the buddy lists under one spinlock taken once a
 * batch. An allocation with GFP_KERNEL may run the shrinkers and sleep; GFP_ATOMIC never does.
 */
#ifndef MM_PAGE_ALLOC_H
#define MM_PAGE_ALLOC_H

#include "mm/page.h"

#define GFP_ATOMIC 0u
#define GFP_KERNEL (1u << 0) /* may sleep and reclaim */
#define GFP_ZERO (1u << 1)
#define GFP_NOIO (1u << 2)   /* with GFP_KERNEL: reclaim only what needs no I/O and no fs lock */
#define GFP_NOWARN (1u << 3)
#define MAX_ORDER 11 /* largest block: 1 << 10 pages, 4 MB */

/* 1 << order contiguous pages, refcount 1; NULL when there are none after reclaim. */
struct page *alloc_pages(unsigned gfp, unsigned order);
static inline struct page *alloc_page(unsigned gfp)
{
	return alloc_pages(gfp, 0);
}

/* Give back what alloc_pages() gave, refcount down to 0. Any context. */
void __free_pages(struct page *page, unsigned order);

static inline void get_page(struct page *page)
{
	atomic_inc(&page->refcount);
}

/* Drop a reference; the last one frees the (order 0) page. Never sleeps. */
void put_page(struct page *page);

/* The same by address in the direct map; NULL when out of memory. */
void *get_free_pages(unsigned gfp, unsigned order);
void free_pages(void *address, unsigned order);

struct memory_info {
	u64 total_pages, free_pages, cached_pages, buffer_pages, dirty_pages, anon_pages, slab_pages,
		reclaimable_slab_pages;
};
void memory_info(struct memory_info *info);

u64 page_alloc_free_pages(void); /* frames free now */

/* Boot: memmap for frames below @end; then the ranges that are free. */
void page_alloc_init(phys_addr_t end);
void page_alloc_add_range(phys_addr_t start, phys_addr_t end);

/* Shrinkers: how memory pressure reaches the caches. */
struct shrinker {
	const char *name;
	u64 (*count)(void);		       /* objects that could be freed */
	u64 (*scan)(u64 objects, unsigned gfp); /* try to free so many; returns how many were */
	struct list_head link;
};
void register_shrinker(struct shrinker *shrinker);

/* Try to free @pages frames by running page reclaim and the shrinkers; how many were freed. May sleep. */
u64 reclaim_pages(u64 pages, unsigned gfp);

#endif /* MM_PAGE_ALLOC_H */
