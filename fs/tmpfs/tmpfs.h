/*
 * tmpfs.h - the memory file system: files in the page cache, names in the dentry cache, nowhere
 * else. devfs is made of it, and so are the files that have no name (pipes, memfds, shared memory).
 */
#pragma once

#include "fs/file/file.h"

extern struct filesystem tmpfs_filesystem;
#define TMPFS_INODE_BEFORE (2 * sizeof(void *)) /* filesystem.inode_before */
int tmpfs_fill_super(struct super_block *sb, const char *options, bool silent);
/* A new inode of @mode that no directory knows (a pipe, a memfd), owned by the calling task: 0
 * and a referenced path, for file_open_path(), or -ENOMEM. Sleeps. */
int tmpfs_nameless(umode_t mode, struct path *path);
static inline bool tmpfs_is_nameless(const struct dentry *dentry)
{
	return dentry->parent == dentry && !S_ISDIR(dentry->inode->mode);
}
/* The same of a regular file of @size bytes, open for @access (O_RDONLY, O_WRONLY, O_RDWR); it is
 * the caller's. ERR_PTR(-ENOMEM: more than there is; -ENFILE). Sleeps. */
struct file *tmpfs_file(umode_t mode, u64 size, int access);
/* Make a node directly under the root of @sb (a device): 0 or -errno. */
int tmpfs_make_node(struct super_block *sb, const char *name, umode_t mode, dev_t rdev);
