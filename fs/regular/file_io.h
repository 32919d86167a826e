/*
 * file_io.h - regular files are read and written through the page cache: the read and write of
 * their file_operations, for any file system that gives address_space_operations.
 *
 * A file system's own .read and .write may be these functions; what it does itself is in its
 * mapping's operations (mm/cache/page_cache.h).
 */
#pragma once

#include "core/kernel.h"

struct address_space;
struct file;
struct inode;
struct io;
struct page;

/* file_operations.read and .write: bytes moved, or -errno. They sleep; write takes inode->lock. */
ssize_t page_cache_read(struct file *file, struct io *io, loff_t *position);
ssize_t page_cache_write(struct file *file, struct io *io, loff_t *position);

/* Write zeros from @at on: @length bytes, not 0, of one page; inode->lock is held. Their number, or
 * -errno. */
ssize_t page_cache_zero(struct inode *inode, loff_t at, size_t length);

/*
 * @page is what page_lookup() gave for @index: NULL, or one that is not uptodate or has
 * PG_readahead, whose reference is taken over. The page, read in, with a reference, and what
 * follows it started to be read, as the way tells in which @file is read; @wanted pages from @index
 * on are needed. NULL: behind the end; ERR_PTR(-EIO/-ENOMEM), or what its
 * file system refuses it with. Sleeps.
 */
struct page *page_cache_get(struct file *file, struct address_space *mapping, pgoff_t index,
			    pgoff_t wanted, struct page *page);

/* mapped.c: mm/ can map files from now on. Start-up. */
void mapped_files_init(void);
