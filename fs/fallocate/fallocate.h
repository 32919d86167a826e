/*
 * fallocate.h - space for a file ahead, and holes in it: fallocate(2).
 */
#pragma once

#include "fs/inode/inode.h"

/* As inode_operations has it: of [@offset, @offset + @length) every page exists afterwards, or with
 * FALLOC_FL_PUNCH_HOLE none. -ENOSPC: then what was taken behind the end is given back. -EINTR: a
 * signal ended it. inode->lock held for writing; sleeps. */
int tmpfs_fallocate(struct inode *inode, int mode, loff_t offset, loff_t length);
