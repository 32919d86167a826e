/*
 * page.h - the page frame descriptor, one for each 4 KB frame of memory.
 *
 * States: free (in the buddy allocator or on a CPU's list) -> allocated; an allocated frame is a slab, a
 * page of the page cache, anonymous memory, or plain kernel memory. The unions follow these states.
 *
 * Locks: `flags` and `refcount` are atomic. `mapping` and `index` change only under the page lock
 * (PG_locked) and the bucket lock of the page cache table. `lru` is under the LRU lock of reclaim.c.
 */
#ifndef MM_PAGE_H
#define MM_PAGE_H

#include <arch/page.h>
#include <generated/hash_choice.h>

#include "kernel/core/atomic.h"
#include "kernel/core/list.h"
#include "kernel/core/types.h"

struct address_space;
struct buffer;
struct kmem_cache;

enum page_flag {
	PG_locked,     /* I/O or truncation in progress: wait with lock_page() */
	PG_uptodate,   /* contents valid */
	PG_dirty,      /* newer than the disk */
	PG_writeback,  /* being written */
	PG_referenced, /* used since reclaim last looked */
	PG_lru,	       /* on reclaim's list */
	PG_cache,      /* in the page cache (mapping/index valid) */
	PG_anon,       /* anonymous memory of a process */
	PG_slab,
	PG_buddy,      /* free, head of a block */
	PG_reserved,   /* never to be freed */
	PG_error,      /* last I/O failed */
};

struct page {
	unsigned long flags; /* set_bit(), test_bit() ... with enum page_flag */
	atomic_t refcount;   /* 0: free */
	atomic_t mapcount;   /* page-table entries that map it */
	union {
		struct { /* page cache */
			struct address_space *mapping;
			pgoff_t index;
			struct page_table_link hash_link;
			struct list_head lru;
			struct buffer *buffers; /* blocks of this page; circular through next_in_page */
		};
		struct { /* slab */
			struct kmem_cache *slab_cache;
			void *slab_free;
			u32 slab_in_use;
			struct list_head slab_list;
		};
		struct { /* free: head of a buddy block */
			struct list_head buddy_list;
			u32 buddy_order;
		};
	};
};

extern struct page *memmap; /* indexed by page frame number */
extern u64 memmap_pages;

static inline struct page *phys_to_page(phys_addr_t address)
{
	return &memmap[address >> PAGE_SHIFT];
}

static inline phys_addr_t page_to_phys(const struct page *page)
{
	return (phys_addr_t)(page - memmap) << PAGE_SHIFT;
}

static inline void *page_address(const struct page *page)
{
	return phys_to_virt(page_to_phys(page));
}

static inline struct page *virt_to_page(const void *address)
{
	return phys_to_page(virt_to_phys(address));
}

#endif /* MM_PAGE_H */
