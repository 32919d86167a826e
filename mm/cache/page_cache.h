/*
 * page_cache.h - file pages in memory, found through the page hash table by (inode, offset).
 *
 * An inode has an address_space; the pages of all address spaces are in one table (or, with
 * PAGE_TABLE=rbtree, in a tree on each). A page is added locked, filled by the file system's
 * readpages, unlocked when uptodate. Whoever looks a page up gets a reference. The cache does not
 * know what an inode is: its address is part of the hash key, and what has to be done to it is an
 * operation of the mapping. Reading and writing through the cache: fs/regular/file_io.h.
 *
 * States of a page: absent -> added (PG_locked, PG_cache) -> uptodate, clean -> dirty -> clean ->
 * removed by truncation or reclaim. Nobody removes a page, makes it dirty or clean without its
 * lock. PG_dirty says that bytes may be newer than the disk: the page is on mapping->dirty_pages
 * (of a file in memory it stays on clean_pages: the flag alone keeps it from reclaim). Write-back
 * that works on buffers alone leaves PG_dirty; a page whose buffers are all clean is clean (they
 * can be freed), and writepage() of it has nothing to do.
 *
 * Lock order: inode->lock (rw_semaphore of the file) -> mm->lock -> page lock -> mapping->vma_lock
 * -> mm->page_table_lock -> bucket lock of the page table; mapping->lock. Neither of the last is
 * held for the other.
 *
 * Limits: pages are found one by one; a page's owner changes only by truncation.
 */
#pragma once

#include "core/memory/page_alloc.h"

struct inode;

struct address_space_operations {
	/*
	 * Of a file system on a disk, for fs/block/buffer_page.c: map file block @index to a disk
	 * block: sets *@block (0: hole), allocating if @create. 0, 1 when it is new, or -errno.
	 */
	int (*get_block)(struct inode *inode, u64 index, u64 *block, bool create);
	/*
	 * Start filling @count locked pages, in order of their indices; each is unlocked when done
	 * (uptodate set, or error set). May complete asynchronously. 0, or -errno of the last page
	 * (which has been unlocked too). The caller keeps its references until this returns.
	 */
	int (*readpages)(struct inode *inode, struct page **pages, unsigned count);
	/*
	 * Start writing out the locked dirty @page; write-protects what maps it if PG_dirty_all is
	 * set (mm_protect_page()), clears that and PG_dirty (clear_page_dirty()), counts in
	 * mapping->writes until the end of the I/O, and unlocks the page. PG_dirty_all: a
	 * program writes to it through a shared mapping, so every block inside the file is dirty.
	 * NULL: the file lives in memory alone, and nothing is gained by reading ahead.
	 */
	int (*writepage)(struct inode *inode, struct page *page);
	/*
	 * A page of @inode has become dirty that was clean: writepage() is to be called some time.
	 * With writepage only. Any lock may be held that set_page_dirty() is called under; does
	 * not sleep.
	 */
	void (*page_dirtied)(struct inode *inode);
	/*
	 * Make [from, to) of the locked @page writable: map blocks, read partial blocks. 0 or
	 * -ENOSPC, -EIO...
	 */
	int (*write_begin)(struct inode *inode, struct page *page, unsigned from, unsigned to);
	/*
	 * The bytes are in the page: mark what has to be written dirty. The caller updates i_size
	 * afterwards. Called after every write_begin that succeeded. @to is the end of what was
	 * copied: if the copy was cut short by a fault and the page is not uptodate, @to == @from,
	 * and nothing counts as written.
	 */
	int (*write_end)(struct inode *inode, struct page *page, unsigned from, unsigned to);
	/* write(2) ended before all that write_begin was told of was there: what was allocated
	 * behind the end of the file goes. Under inode->lock. NULL: nothing was. */
	void (*write_failed)(struct inode *inode);
	/* The locked @page is going away from byte @from on: drop its buffers (all of them if from
	 * == 0). */
	void (*invalidate)(struct page *page, unsigned from);
#ifdef CONFIG_SWAP
	/* The same of @pages whole pages of a file in memory that were swapped out. */
	void (*swapped_gone)(struct inode *inode, u64 pages);
#endif
	/* Reclaim wants the locked @page, which is clean and mapped nowhere: free page->buffers and
	 * make them NULL. false: one is dirty or in use, and the page stays. NULL: it has none.
	 * Takes locks by trying, does not sleep. */
	bool (*free_buffers)(struct page *page);
};

struct address_space {
	struct inode *host;
	loff_t size; /* of the file, in bytes; changes under inode->lock, read without it */
	const struct address_space_operations *ops;
	struct page_table_root pages; /* per-owner part of the page table (empty for hashes) */

	/* Under lock: every page is on one of the lists, for truncation and sync without a hash
	 * walk. */
	spinlock_t lock;
	spinlock_t vma_lock; /* of `vmas` */
	struct list_head clean_pages, dirty_pages;
	u64 nr_pages;

	/* Under vma_lock: the areas that map this file, for truncation, sync and reclaim. */
	struct list_head vmas;

#ifdef CONFIG_SWAP
	/* Under shmem_lock (mm/swap/shmem.c), of a file in memory: its pages that are swapped out,
	 * which nr_pages counts, too, and how many truncations are at work. */
	struct shmem_slot *slots;
	unsigned truncating;
#endif

	int write_error; /* -errno of the last write that failed */
	/* how many have failed, and of how many an fsync has told somebody: vfs_fsync() */
	atomic_t write_errors;
	int errors_told;
	atomic_t postponed; /* how many pages stayed dirty, since memory was short */
	atomic_t writes; /* blocks that are being written, and pages picked for it */
};

/* A write of @mapping has failed: each who has the file open is told by his next fsync. */
static inline void mapping_set_error(struct address_space *mapping, int error)
{
	WRITE_ONCE(mapping->write_error, error);
	atomic_inc_return(&mapping->write_errors); /* behind it */
}

void address_space_init(struct address_space *mapping, struct inode *host,
			const struct address_space_operations *ops);

/* The page at @index with a reference, locked (sleeps): what page_lookup() finds, or freshly added
 * and not uptodate. NULL: out of memory. */
struct page *find_or_create_page(struct address_space *mapping, pgoff_t index);

/* Add the fresh page @page (its only reference is the caller's) at @index, locked and not uptodate:
 * NULL. If there is one already: that, referenced, and @page is unchanged. Counted as a lookup. */
struct page *add_to_page_cache(struct page *page, struct address_space *mapping, pgoff_t index);
/* Does a page leave its table for certain, or if nobody has a reference but the cache and the
 * caller? */
enum unhashed { UNHASH, UNHASH_UNUSED };
/* The locked page leaves the cache; drops the cache's reference, not the caller's. */
void remove_from_page_cache(struct page *page);
/* For reclaim: the same if nobody has a reference but the cache and the caller; else it stays, and
 * the answer is false. */
bool remove_unused_page(struct page *page);
/* reclaim.c: drop the page if it is clean, unused and unlocked; was it? Takes the reference over.
 * Starts no I/O, does not sleep. */
bool drop_unused_page(struct page *page);

void wait_on_page(struct page *page); /* until it is not locked */
void wake_page(const struct page *page);
/* What was counted in mapping->writes has been written. Any context. */
void end_mapping_write(struct address_space *mapping);

/* Any context. */
static inline void unlock_page(struct page *page)
{
	/* Both bits at once: afterwards the page may be gone. Woken waiters set the second again.
	 */
	if (unlikely(__atomic_fetch_and(&page->flags, ~(BIT(PG_locked) | BIT(PG_waiters)),
					__ATOMIC_SEQ_CST) &
		     BIT(PG_waiters)))
		wake_page(page);
}

static inline bool trylock_page(struct page *page)
{
	return !test_and_set_bit(PG_locked, &page->flags);
}

/* In debug builds: panic unless somebody has locked the page. */
static inline void assert_page_locked(const struct page *page)
{
	ASSERT(test_bit(PG_locked, &page->flags));
}

/* Sleeps. */
static inline void lock_page(struct page *page)
{
	while (unlikely(!trylock_page(page)))
		wait_on_page(page);
}

/* If so, the bytes that made it so are seen by what follows. */
static inline bool page_uptodate(const struct page *page)
{
	return smp_load_acquire(&page->flags) & BIT(PG_uptodate);
}

/* Bytes of the locked page are newer than the disk. Takes mapping->lock; not in interrupts. */
void set_page_dirty(struct page *page);
/* The locked page is about to be written or has proved clean; was it dirty? */
bool clear_page_dirty(struct page *page);

/* Drop the pages of [start, end) and unmap them from processes; of partial ones the bytes are
 * zeroed. Up to FILE_END the copies that private areas made of them go, too. */
#define FILE_END (1ULL << 63) /* behind the largest offset */
void truncate_inode_pages(struct address_space *mapping, u64 start, u64 end);
/* Write all dirty pages out and wait: 0 or the first error. */
int page_cache_sync(struct address_space *mapping);
/* Start write-back of dirty pages without waiting: 0 or the first error. */
int page_cache_flush(struct address_space *mapping);
/* Unused clean pages of @mapping are dropped (umount, drop_caches). */
void invalidate_inode_pages(struct address_space *mapping);
/* All unused clean pages are, whoever may want them. reclaim.c */
void drop_clean_pages(void);

/* What process mappings have to do with it (mm/space/rmap.c). */

/* Which entries of an area that shows a file are cleared: those of the file's pages alone, or also
 * those of what a private area made of them by writing. Truncation takes these along, reclaim must
 * not. */
enum zapped { ZAP_FILE_PAGES, ZAP_COPIES_TOO };
/* Unmap pages [first, last] of @mapping from every process. Takes vma_lock. */
void mm_unmap_file(struct address_space *mapping, pgoff_t first, pgoff_t last, enum zapped what);
/* The locked @page is about to be written: from now on no program writes to it but after a fault,
 * which waits for the page's lock. Takes vma_lock, waits for other CPUs to forget. */
void mm_protect_page(struct page *page);

void page_cache_init(void); /* sizes and allocates the table; reclaim_init() */
void reclaim_init(void);    /* from now on reclaim_pages() (core/memory/shrinker.h) works */
