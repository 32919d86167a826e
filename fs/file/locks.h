/*
 * locks.h - advisory locks on files, of processes, of open files, and of flock(2). See locks.c.
 */
#pragma once

#include "fs/file/file.h"

/* The fcntl command @command on the locks of @file (F_GETLK ... F_OFD_SETLKW), whose
 * parameter is at @flock: 0, or 1 if the process has got a record lock, which goes with its first
 * close of the file; -EINVAL (none of them, or a wrong parameter), -EFAULT, -EOVERFLOW, -EBADF (not
 * open for it), -EAGAIN, -EDEADLK, -ENOLCK, -ERESTARTSYS. */
s64 fcntl_lock(struct file *file, u32 command, void __user *flock);
/* flock(2)'s lock of @file becomes of @type, F_UNLCK: none: 0, -EAGAIN (others have it, and it is
 * not to wait), -ENOLCK, -ERESTARTSYS. Sleeps. */
enum patience { DO_NOT_WAIT, WAIT_FOR_OTHERS };
int flock_file(struct file *file, int type, enum patience patience);
/* When a descriptor or an open file is closed, if its inode has locks: those that belong to @owner,
 * the file table or the file, go. */
void locks_remove(struct inode *inode, const void *owner);
