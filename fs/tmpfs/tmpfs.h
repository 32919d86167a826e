/*
 * tmpfs.h - the memory file system: files in the page cache, names in the dentry cache, nowhere
 * else.
 */
#pragma once

#include "fs/vfs.h"

/* Also what devfs is made of. */
int tmpfs_fill_super(struct super_block *sb, const char *options, bool silent);
/* A new file of @mode and @size bytes that no directory knows, open for reading and writing; it is
 * the caller's. ERR_PTR(-ENOMEM, -ENFILE). Sleeps. */
struct file *tmpfs_file(umode_t mode, loff_t size);
/* Make a node directly under the root of @sb (a device): 0 or -errno. */
int tmpfs_make_node(struct super_block *sb, const char *name, umode_t mode, dev_t rdev);
