/*
 * swap.h - swap: pages of programs that no file has, on a disk or in a file while memory is short.
 *
 * A page that is to leave memory gets a slot of a swap area, goes into the swap cache, is written,
 * and is dropped; its entry in the page table says which slot (swap_hooks.h). The swap cache is the
 * page cache: pages are found in its table under swap_space, by their entry, which is also what the
 * hash function gets for a byte offset. So it is with Linux 2.2, and in Lever's figures (Lever
 * 2000, section 3.1: why the function "offset" has been tried). By choice it has a table, and a
 * function, of its own (SWAP_TABLE, SWAP_HASH), which Lever asks for in section 6.
 *
 * States of an anonymous page, besides being where it is: not in the swap cache (no slot; its
 * bytes are nowhere else) -> in it and dirty (has a slot; to be written) -> in it and clean (the
 * slot has the same bytes) -> gone, and to be read from its slot. A page in the swap cache is
 * mapped for reading alone: a store faults, and takes it out first, or makes a copy. So no dirty
 * bit of the machine is asked.
 *
 * A slot counts who wants it: entries of page tables, files in memory, and one for the page in the
 * swap cache. It is free when nobody does.
 *
 * There is no way from an anonymous page to the entries that map it, and none is needed: as in
 * Linux 2.2 swap_out() goes through address spaces in turn, and a page that several share goes for
 * good when the last of them has been asked. What that costs is in docs/kernel/swap.md.
 *
 *	map.c	areas, their slots, how many want each
 *	cache.c	the swap cache: in, out, reading
 *	table.c	where its pages are found
 *	in.c	faults, forks, exits: entries that come and go
 *	out.c	the thread that swaps out, and what tells it to
 *	shmem.c	files in memory: out and in, without the swap cache
 *	off.c	swapoff: all that is in an area comes back
 *	lock.c	pages that stay: mlock(2)
 *
 * Lock order: mm->lock -> page lock -> mm->page_table_lock -> bucket lock of the page table,
 * mapping->lock, mms_lock -> swap_lock. Under page_table_lock, page locks are tried only.
 *
 * Limits: SWAP_AREAS areas; no discard, no encryption, no hibernation; what is swapped out is never
 * moved within its area.
 */
#pragma once

#include "mm/space/swap_hooks.h"

#define SWAP_AREAS 8
#define SWAP_CLUSTER 16 /* slots, side by side, that are given out one after the other */
#define SWAP_AROUND 8	/* slots that are read together, aligned; as Linux's page-cluster 3 */
#define SWAP_BATCH 32	/* pages that are written together */
#define SWAP_BAD 0xffff /* the count of a slot that must not be used */
#define SWAP_WANTED_MAX 0x8001 /* each process once, and the cache: pids end at 32768 */

static inline u64 swap_entry(unsigned type, u64 slot)
{
	return (u64)type << 1 | slot << 8;
}

static inline unsigned swap_type(u64 entry)
{
	return entry >> 1 & 0x7f;
}

static inline u64 swap_slot(u64 entry)
{
	return entry >> 8;
}

/* As an entry of a page table: bits 0 and 8 are clear (arch/mmu.h). */
static inline pte_t swap_to_pte(u64 entry)
{
	return (entry & 0xff) | swap_slot(entry) << PAGE_SHIFT;
}

static inline u64 pte_to_swap(pte_t pte)
{
	return (pte & 0xff) | pte >> PAGE_SHIFT << 8;
}

/* ---- what an area lies on -------------------------------------------------------------------- */

enum swap_operation { SWAP_READ, SWAP_WRITE };

struct swap_transfer { /* a page's bytes, between memory and a slot */
	struct page *page;
	u64 entry;
};

struct swap_backing {
	/*
	 * Start reading or writing @count locked pages, all of this area; swap_page_done() is
	 * called for each, from any context. Sleeps for no memory but the last reserve's (block.h).
	 */
	void (*start)(struct swap_backing *backing, enum swap_operation operation,
		      const struct swap_transfer *transfers, unsigned count);
};
/* @error: 0 or -EIO, then with PG_error. A page of the swap cache that was read is unlocked;
 * another's reader waits. Any context. */
void swap_page_done(struct page *page, enum swap_operation operation, int error);

/* ---- areas (map.c) --------------------------------------------------------------------------- */

/* A new area: @counts, from kmalloc() and its own from now on, has 0 or SWAP_BAD for each of
 * @slots.
 * @priority < 0: one less than all before. Its type, or -EPERM: there are too many. */
int swap_area_add(struct swap_backing *backing, u16 *counts, u64 slots, int priority);
/* No page goes to it any more (or again). */
void swap_area_open(unsigned type, bool open);
u64 swap_area_used(unsigned type); /* slots that somebody wants */
struct swap_area_info {
	u64 pages, used;
	int priority;
};
struct swap_area_info swap_area_info(unsigned type);
/* Nobody wants a slot of it any more: it is gone. */
void swap_area_remove(unsigned type);
/* The lowest entry of @type behind @entry (0: of all) that somebody wants; 0: none. */
u64 swap_next_used(unsigned type, u64 entry);
struct swap_backing *swap_backing(u64 entry); /* of one that somebody wants */

/* off.c: bring all pages of the area back: 0; -ENOMEM (at once where memory and the other areas are
 * too small), -EIO, -EINTR: it is in use as before. Sleeps. */
int swap_area_empty(unsigned type);

/* ---- entries (map.c) ------------------------------------------------------------------------- */

extern spinlock_t swap_lock; /* areas, their counts */

u64 swap_alloc(void);	       /* wanted once, for the swap cache; 0: all areas are full */
void swap_get(u64 entry);      /* somebody who has it wants it once more */
bool swap_get_used(u64 entry); /* the same of one that may be free by now: false: it is */
void swap_put(u64 entry);
unsigned swap_count(u64 entry); /* who wants it: final with its page locked in the cache and 1 */
bool swap_is_open(u64 entry);	/* its area takes pages: no swapoff is at work */
/* Better give the slot back than keep it for a page that is in memory: swap is more than half full,
 * or the area is to become empty. */
bool swap_is_short(u64 entry);

/* ---- the table of the swap cache (table.c): the page cache's, or its own; counted ------------ */

void swap_cache_table_init(void); /* boot */
/* The page of @entry with a reference, or NULL. Does not sleep. */
struct page *swap_cache_find(u64 entry);
/* What swap_cache_add() does to the table: the page gets mapping, index, a reference, PG_cache. */
struct page *swap_cache_enter(struct page *page, u64 entry);

/* ---- the swap cache (cache.c) ---------------------------------------------------------------- */

void swap_cache_init(void); /* boot */
/* The locked anonymous @page comes in under @entry, one of whose counts it takes over: NULL; or
 * what is there already, referenced. */
struct page *swap_cache_add(struct page *page, u64 entry);
/* The page of @entry, which somebody wants, with a reference; read in, with what lies around it, if
 * it is not there (which counts in current->major_faults): then it is locked until it is uptodate
 * or PG_error. NULL: nobody wants it any more; ERR_PTR(-ENOMEM). Sleeps. */
struct page *swap_cache_get(u64 entry);
/* If @entry is wanted by none but the cache, its page leaves that. SWAP_TRY: unless it is locked.
 */
enum swap_patience { SWAP_TRY, SWAP_WAIT };
void swap_cache_forget(u64 entry, enum swap_patience patience);

/* ---- faults (in.c) --------------------------------------------------------------------------- */

/* What swap_in() does, but for the counts of faults; an @access of 0 reads. */
int swap_bring_back(struct vma *vma, u64 address, pte_t pte, unsigned access);

/* ---- address spaces (out.c) ------------------------------------------------------------------ */

extern spinlock_t mms_lock; /* the list, and mm->swap_round */
extern struct list_head swap_mms;

/* Swap out until @pages frames have become free: how many have. The thread's work. Sleeps for I/O.
 */
u64 swap_out(u64 pages);
void swap_start(void); /* boot: the thread, and reclaim knows of it */

/* Write @count locked pages, a few of one area side by side, and wait. PG_error: of those that
 * could not be. The thread's work. */
void swap_write(const struct swap_transfer *transfers, unsigned count);

/* ---- files in memory (shmem.c) --------------------------------------------------------------- */

void swap_shmem_start(void); /* boot */
/* Look at the next @frames frames, and swap out at most SWAP_BATCH pages that were not used lately:
 * how many frames are free by it. The thread's work. Sleeps for I/O. */
u64 swap_shmem_out(u64 frames);
/* As swap_area_empty(), of files' pages: 0, -ENOMEM, -EIO, -EINTR. */
int swap_shmem_empty(unsigned type);
void swap_shmem_read(void); /* a page that is no swap cache's has been read. Any context. */

/* ---- locked memory (lock.c) ------------------------------------------------------------------ */

/* The areas in [start, end) are VM_LOCKED from now on, or not: 0 or -ENOMEM. Sleeps. */
enum swap_locking { SWAP_UNLOCK, SWAP_LOCK };
int mm_set_locked(struct mm *mm, u64 start, u64 end, enum swap_locking locking);
u64 mm_locked_pages(const struct mm *mm);

/* ---- a table of its own counts each operation, and where keys are recorded writes it ----------
 */

#ifdef CONFIG_RECORD_KEYS
#define SWAP_COUNT_FIND(page, entry, steps, compares)                                              \
	do {                                                                                       \
		HASH_COUNT_FIND(swap, page, steps, compares);                                      \
		HASH_RECORD(swap, HASH_FIND, page, swap_type(entry), swap_slot(entry));            \
	} while (0)
#define SWAP_COUNT(counter, operation, page)                                                       \
	do {                                                                                       \
		HASH_COUNT(swap, counter, 1);                                                      \
		HASH_RECORD(swap, operation, page, swap_type((page)->index),                       \
			    swap_slot((page)->index));                                             \
	} while (0)
#else
#define SWAP_COUNT_FIND(page, entry, ...) HASH_COUNT_FIND(swap, page, __VA_ARGS__)
#define SWAP_COUNT(counter, operation, page) HASH_COUNT(swap, counter, 1)
#endif
