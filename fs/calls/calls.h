/*
 * calls.h - what the system calls on files share. Each call copies its arguments, looks up what
 * they name and has the object's own function do the work: fs/path, fs/inode, fs/file say what that
 * is.
 */
#pragma once

#include "fs/file/file_table.h"
#include "fs/inode/permission.h"
#include "fs/path/namei.h"

/* As LOOKUP_*; -EINVAL: there are others than these two and @more. */
static __always_inline int at_lookup(int flags, int more)
{
	if (unlikely(flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | more)))
		return -EINVAL;
	return (flags & LOOKUP_EMPTY) | (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW);
}

/* locks.c: the fcntl commands on locks, of descriptor @number, which is @file; else -EINVAL. */
s64 fcntl_lock_call(int number, struct file *file, u32 command, void __user *user);
