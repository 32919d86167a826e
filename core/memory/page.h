/*
 * page.h - the page frame descriptor, one for each 4 KB frame of memory.
 *
 * States: free (in the buddy allocator or on a CPU's stack) -> allocated; an allocated frame is
 * part of a slab, a page of the page cache, anonymous memory, a page table, or plain kernel memory.
 * The unions follow these states.
 *
 * There is one descriptor a frame for all rooms, which is why it lies in core/ and has fields of
 * theirs: those of the page cache are mm/cache/page_cache.h's and fs/'s (buffers), those of a page
 * table the machine's. core/memory itself uses the slab's and the free block's, and clears flags.
 *
 * Locks: `flags` and `refcount` are atomic. `mapping` and `index` change only under the page lock
 * (PG_locked) and the bucket lock of the page cache table. `mapping_link` is under mapping->lock.
 * PG_dirty, PG_dirty_all, PG_uptodate and PG_error change under the page lock.
 *
 * A frame that was allocated alone has refcount 1; each page-table entry that maps it, the page
 * cache and every finder hold one more. Blocks of several frames are not counted: their refcount
 * stays 0, so that reclaim, which looks at all frames in turn, cannot mistake one for a page.
 */
#pragma once

#include <generated/hash_choice.h>

#include "core/kernel.h"

struct address_space;
struct buffer;
struct kmem_cache;

enum page_flag {
	PG_locked,     /* I/O or truncation in progress: wait with lock_page() */
	PG_uptodate,   /* contents valid */
	PG_dirty,      /* newer than the disk */
	PG_dirty_all,  /* with PG_dirty: written to through a shared mapping, anywhere */
	PG_referenced, /* used since reclaim last looked */
	PG_waiters,    /* somebody sleeps until PG_locked is cleared */
	PG_cache,      /* in the page cache (mapping/index valid) */
	PG_anon,       /* anonymous memory of a process: counted in MEMORY_ANON until it is free */
	PG_slab,
	PG_buddy,      /* free, head of a block */
	PG_error,      /* last I/O failed */
	PG_readahead,  /* who reads this page has what follows read, too (fs/file) */
};

struct page {
	unsigned long flags; /* set_bit(), test_bit() ... with enum page_flag */
	atomic_t refcount;   /* 0: free */
	union {
		atomic_t mapcount; /* of a page of the page cache: page-table entries that map it */
		atomic_t reads;	   /* while it is filled: what is still to be read, and one */
	};
	union {
		struct { /* page cache: mm/cache */
			struct address_space *mapping;
			pgoff_t index;
			struct list_head mapping_link; /* in mapping->clean_pages or dirty_pages */
			struct buffer *buffers; /* of its blocks, an array; or NULL */
			/* In the table: .page or .swap. Last, so that nothing else is ever in its
			 * place: who looks without locks may stand on a frame that is another's by
			 * now, and is led to a frame from there, too. */
			union page_links links;
		};
		struct { /* slab */
			/* in every frame of the slab, the rest in the first */
			struct kmem_cache *slab_cache;
			void *slab_free;
			struct list_head slab_list;
			u32 slab_in_use;
		};
		struct { /* free: head of a buddy block (order: of a kmalloc block as well) */
			struct list_head buddy_list;
			u32 buddy_order;
		};
		struct { /* page table (arch mmu) */
			struct list_head table_list; /* in mmu_root.tables */
			u64 *table_parent;	     /* the entry that points to it */
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
