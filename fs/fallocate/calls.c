/*
 * calls.c - fallocate(2). What it means for a file its file system knows.
 */
#include "fs/calls/calls.h"
#include "fs/inode/attributes.h"

/* All that fallocate(2) knows; of the kinds of it at most one is asked for. */
#define FALLOC_KINDS                                                                               \
	(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_ZERO_RANGE |                  \
	 FALLOC_FL_INSERT_RANGE | FALLOC_FL_UNSHARE_RANGE)

/* Does @mode make sense? Holes keep the size, what moves contents does not. */
static bool space_mode_ok(int mode)
{
	int kind = mode & ~FALLOC_FL_KEEP_SIZE;
	bool keeps_size = mode & FALLOC_FL_KEEP_SIZE;

	if ((kind & ~FALLOC_KINDS) || (kind & (kind - 1)))
		return false;
	if (kind == FALLOC_FL_PUNCH_HOLE)
		return keeps_size;
	if (kind & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE))
		return !keeps_size;
	return true;
}

/* @mode is one that makes sense: 0, -EPERM, -EFBIG, -EOPNOTSUPP, or what the file system says. */
static int change_space(struct inode *inode, int mode, loff_t offset, loff_t length)
{
	if ((inode->attributes & FS_IMMUTABLE_FL) ||
	    ((inode->attributes & FS_APPEND_FL) && (mode & ~FALLOC_FL_KEEP_SIZE)))
		return -EPERM;
	if (length > (loff_t)inode->sb->max_bytes - offset)
		return -EFBIG;
	if (!inode->op->fallocate || (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE)))
		return -EOPNOTSUPP;
	guard(write, &inode->lock);
	if (!(mode & FALLOC_FL_PUNCH_HOLE) && offset + length > inode->data.size)
		TRY(limit_growth(inode, offset + length));
	TRY(inode->op->fallocate(inode, mode, offset, length));
	if (current->cred->euid != 0)
		inode->mode = mode_unprivileged(inode, inode->mode);
	return 0;
}

s64 sys_fallocate(int number, int mode, loff_t offset, loff_t length)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct inode *inode = fd.file->inode;

	if (offset < 0 || length <= 0)
		return -EINVAL;
	if (!space_mode_ok(mode))
		return -EOPNOTSUPP;
	if (!(fd.file->mode & FMODE_WRITE))
		return -EBADF;
	if (S_ISFIFO(inode->mode))
		return -ESPIPE;
	if (S_ISDIR(inode->mode))
		return -EISDIR;
	if (!S_ISREG(inode->mode))
		return -ENODEV;
	int error = change_space(inode, mode, offset, length);
	if (!error)
		notify_open(inode, IN_MODIFY, fd.file);
	return error;
}
