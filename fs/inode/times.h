/*
 * times.h - an inode's three times. file_update_time() and inode_changed() are called after what
 * they tell of: under inode->lock; by a rename, under those of the directories; by a store through
 * a mapping, under mm->lock; by a write to a FIFO, under none. So mtime and ctime themselves change
 * under inode->spin. Who has only read a file calls touch_atime(), under no lock: of two at once
 * one is lost.
 */
#pragma once

#include "fs/file/file.h"

void touch_atime(struct file *file); /* relatime unless SB_NOATIME */
/* Does reading @inode change its time? relatime: only when the last read is older than the last
 * change, or than a day. No lock. */
bool atime_is_due(const struct inode *inode, const struct mount *mount);
void touch_inode_atime(struct inode *inode, const struct mount *mount); /* of a link, too */
int inode_changed(struct inode *inode); /* ctime; 0 */
/* The same of what was reached by @dentry, a change that is @event to those who watch (0: none). */
static inline int changed_by(struct dentry *dentry, struct inode *inode, u32 event)
{
	int error = inode_changed(inode);

	notify(inode, event, dentry);
	return error;
}
void file_update_time(struct inode *inode); /* mtime and ctime */
