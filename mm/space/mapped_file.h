/*
 * mapped_file.h - what mm/ asks of an open file that an area shows, or that a program was started
 * from: struct file is fs/'s, and opaque here. fs/ registers the one table of these operations at
 * boot (fs/regular/mapped.c).
 *
 * A file's pages themselves are found through its address_space (mm/cache/page_cache.h), without a
 * call: only what has no page yet, or goes beyond pages, comes here.
 */
#pragma once

#include "core/kernel.h"

struct address_space;
struct file;
struct page;

struct mapped_file_operations {
	/* A reference more, or one less: what the last one takes along may sleep. get: any lock;
	 * put: none that the file system takes (mm_write_unlock()). */
	void (*get)(struct file *file);
	void (*put)(struct file *file);

	/* @file is to be mapped by an area of these VM_* flags: 0, and *@mapping is whose pages
	 * show (NULL: zeros, as without a file); it counts as accessed. -EACCES: it is not open for
	 * that; -EPERM: no programs are run from there; -ENODEV: has no pages; -EINVAL. No lock
	 * held; may sleep. */
	int (*map)(struct file *file, unsigned flags, struct address_space **mapping);
	/* The area that shows @file may have these flags instead: 0, or -EACCES. */
	int (*protect)(struct file *file, unsigned flags);

	/* For a fault: as page_cache_get() (fs/regular/file_io.h). mm->lock is held; sleeps. */
	struct page *(*read_page)(struct file *file, struct address_space *mapping, pgoff_t index,
				  pgoff_t wanted, struct page *page);
	/* A shared area's page, clean until now, is written to: the file has changed. mm->lock is
	 * held. */
	void (*stored)(struct file *file);
	/* Write out what was stored, and wait: 0 or the first error. No lock held; sleeps. */
	int (*sync)(struct file *file);
};

/* Those of all files, set at boot, before the first area with a file. */
extern const struct mapped_file_operations *mapped_files;
