/*
 * pages.h - tmpfs's own part of inodes and superblocks, and its files' pages: private to tmpfs.c,
 * pages.c, fs/xattr/tmpfs.c and fs/fallocate/tmpfs.c.
 */
#pragma once

#include "fs/tmpfs/tmpfs.h"

#define PAGE_BLOCKS (PAGE_SIZE / 512) /* as inode->blocks counts them */

struct tmpfs_super {
	struct percpu_counter pages; /* in use */
};

struct tmpfs_inode {
	struct xattr *xattrs; /* newest first; fs/xattr/tmpfs.c's, under inode->lock */
	struct dentry *hint;  /* of a directory, where the last reader stopped; or NULL */
	struct inode inode;
};
static_assert(offsetof(struct tmpfs_inode, inode) == TMPFS_INODE_BEFORE, "see tmpfs.h");

static inline struct tmpfs_super *super_of(const struct inode *inode)
{
	return inode->sb->private;
}

static inline struct tmpfs_inode *TMPFS_I(struct inode *inode)
{
	return container_of(inode, struct tmpfs_inode, inode);
}

extern const struct address_space_operations tmpfs_page_operations;
/* As inode_operations has it. Without a lock: what is data may change at any moment anyway. */
int tmpfs_seek(struct inode *inode, loff_t offset, bool hole, loff_t *found);
int tmpfs_truncate(struct inode *inode, loff_t size);
#ifdef CONFIG_FALLOCATE
/* As inode_operations has it: of [@offset, @offset + @length) every page exists afterwards, or with
 * FALLOC_FL_PUNCH_HOLE none. -ENOSPC: then what was taken behind the end is given back. -EINTR: a
 * signal ended it. inode->lock held for writing; sleeps. fs/fallocate/tmpfs.c */
int tmpfs_fallocate(struct inode *inode, int mode, loff_t offset, loff_t length);
#endif
