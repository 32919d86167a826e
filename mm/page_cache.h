/*
 * page_cache.h - file pages in memory, found through the page hash table by (inode, offset).
 *
 * An inode (file or block device) has an address_space; the pages of all address spaces are in one table
 * (or, with PAGE_TABLE=rbtree, in a tree on each). A page is added locked, filled by the file system's
 * readpage, unlocked when uptodate. Whoever looks a page up gets a reference.
 *
 * Lock order: inode->lock (rw_semaphore of the file) -> page lock -> page table bucket lock -> LRU lock.
 */
#ifndef MM_PAGE_CACHE_H
#define MM_PAGE_CACHE_H

#include "kernel/core/spinlock.h"
#include "mm/page.h"
#include "mm/page_alloc.h"

struct file;
struct inode;
struct io;

struct address_space_operations {
	/*
	 * Start filling the locked @page; unlock it when done (uptodate set, or error set). May complete
	 * asynchronously. 0 or -errno (then the page has been unlocked too).
	 */
	int (*readpage)(struct inode *inode, struct page *page);
	/* Start writing out the locked dirty @page; unlocks it at once or when done. NULL: never dirty on disk. */
	int (*writepage)(struct inode *inode, struct page *page);
	/*
	 * Make [from, to) of the locked @page writable: map blocks, read partial blocks. 0 or -ENOSPC, -EIO...
	 */
	int (*write_begin)(struct inode *inode, struct page *page, unsigned from, unsigned to);
	/* The bytes are in the page: mark what has to be written dirty. The caller updates i_size. */
	int (*write_end)(struct inode *inode, struct page *page, unsigned from, unsigned to);
	/* The locked @page is going away from byte @from on: drop its buffers (all of them if from == 0). */
	void (*invalidate)(struct page *page, unsigned from);
	/* Reclaim wants the clean, locked page: drop its buffers; false if they are busy. */
	bool (*release)(struct page *page);
};

struct address_space {
	struct inode *host;
	const struct address_space_operations *ops;
	struct page_table_root pages; /* per-owner part of the page table (empty for hashes) */
	spinlock_t lock;	      /* guards page_list, nr_pages, dirty bookkeeping, vmas */
	struct list_head page_list;   /* all pages, for truncation and sync without a hash walk; linked how mm chooses */
	u64 nr_pages;
	struct list_head vmas; /* shared and private file mappings, for truncation */
	int write_error;       /* reported once by fsync */
};

void address_space_init(struct address_space *mapping, struct inode *host,
			const struct address_space_operations *ops);

/* The page at @index with a reference, or NULL. Counted as a lookup. Does not sleep. */
struct page *find_get_page(struct address_space *mapping, pgoff_t index);
/* The same, locked (sleeps), or freshly added, locked and not uptodate. NULL: out of memory. */
struct page *find_or_create_page(struct address_space *mapping, pgoff_t index);
/* Referenced and uptodate, read in if need be; ERR_PTR(-EIO/-ENOMEM). Sleeps. */
struct page *read_cache_page(struct address_space *mapping, pgoff_t index);

void lock_page(struct page *page);
bool trylock_page(struct page *page);
void unlock_page(struct page *page); /* any context */
void wait_on_page_writeback(struct page *page);
void end_page_writeback(struct page *page); /* any context */
void set_page_dirty(struct page *page);

/* The file operations of ordinary files: bytes read/written, or -errno. */
ssize_t page_cache_read(struct file *file, struct io *io, loff_t *position);
ssize_t page_cache_write(struct file *file, struct io *io, loff_t *position);

/* Drop all pages from byte @start on (partial page: zeroed from there); unmaps them from processes. */
void truncate_inode_pages(struct address_space *mapping, loff_t start);
/* Write all dirty pages of [start, end] out and wait: 0 or the first error. */
int page_cache_sync(struct address_space *mapping, loff_t start, loff_t end);
/* Start write-back of dirty pages without waiting. */
int page_cache_flush(struct address_space *mapping);
/* Unused clean pages of @mapping are dropped (umount, drop_caches). */
void invalidate_inode_pages(struct address_space *mapping);

void page_cache_init(void); /* sizes and allocates the table */

#endif /* MM_PAGE_CACHE_H */
