/*
 * times.h - an inode's three times. file_update_time() and inode_changed() are called with
 * inode->lock held for writing; but a rename, which locks directories only, renews the ctime of
 * what it moves under theirs. Who has only read a file calls touch_atime(), under no lock: of two
 * at once one is lost.
 */
#pragma once

#include "fs/file/file.h"

void touch_atime(struct file *file); /* relatime unless SB_NOATIME */
void touch_inode_atime(struct inode *inode, const struct mount *mount); /* of a link, too */
void inode_changed(struct inode *inode); /* ctime */
/* Of a change that @event tells watchers of (fs/notify.h; 0: of none): 0. */
int path_changed(const struct path *path, u32 event);
void file_update_time(struct inode *inode); /* mtime and ctime */
