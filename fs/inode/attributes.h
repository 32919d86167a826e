/*
 * attributes.h - changing an inode's mode, owner, times and size, with all checks that a program's
 * call has to pass. All take inode->lock, and may sleep.
 */
#pragma once

#include "fs/path/mount.h"

/* As the system calls; an owner of -1 stays. 0, -EPERM, -EROFS. */
int vfs_chmod(const struct path *path, umode_t mode);
int vfs_chown(const struct path *path, uid_t uid, gid_t gid);
/* As FS_IOC_SETFLAGS: FS_*_FL. 0, -EPERM, -EROFS, -EOPNOTSUPP: others than those four. */
int set_attributes(const struct path *path, u32 attributes);
/* May a file grow to @size (RLIMIT_FSIZE)? 0, or -EFBIG and SIGXFSZ. Asked under inode->lock, since
 * others may make it grow. attributes.c */
int limit_growth(const struct inode *inode, loff_t size);
/* Give it another size; permission was checked. Its times change if @times says so, and in any case
 * if the size does. */
enum truncate_times { TOUCH_IF_RESIZED, TOUCH_ALWAYS };
int do_truncate(struct inode *inode, loff_t size, enum truncate_times times);
/* The same of what was reached by @dentry, and those who watch are told. */
static inline int truncate_by(struct dentry *dentry, struct inode *inode, loff_t size,
			      enum truncate_times times)
{
	umode_t mode = inode->mode; /* whose set-id bits may go */
	int error = do_truncate(inode, size, times);

	if (!error)
		notify(inode, mode == inode->mode ? IN_MODIFY : IN_MODIFY | IN_ATTRIB, dentry);
	return error;
}
/* The access and the modification time; UTIME_OMIT: not that. BOTH_NOW: they are the present, for
 * which the right to write is enough. */
enum times_kind { TIMES_GIVEN, BOTH_NOW };
int set_times(const struct path *path, const struct timespec64 times[2], enum times_kind kind);

/* What running the file at @path makes of @cred, which is current's own copy: set-id bits and owner
 * as they are at one moment, whatever chmod and chown are at. */
void cred_of_program(struct cred *cred, const struct path *path);
