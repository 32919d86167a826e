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
int inode_changed(struct inode *inode); /* ctime; 0 */
void file_update_time(struct inode *inode); /* mtime and ctime */
