/*
 * anonymous.h - files that no directory knows: pipes of pipe(2), eventfds.
 *
 * Their inodes belong to a file system that is mounted nowhere.
 */
#pragma once

#include "fs/vfs.h"

/* A new inode of @mode, owned by the calling task, behind a dentry of its own; NULL: no memory. */
struct dentry *anonymous_dentry(umode_t mode, const struct file_operations *fop);
/* Let @file, from file_alloc(), be an open file of @dentry. @mode: FMODE_*, @flags: O_*. */
void anonymous_open(struct file *file, struct dentry *dentry, unsigned mode, int flags);
bool is_anonymous(const struct dentry *dentry);
/* What /proc/PID/fd calls it, "pipe:[3]": its length, as snprintf(). */
int anonymous_name(const struct dentry *dentry, char *buffer, size_t size);
