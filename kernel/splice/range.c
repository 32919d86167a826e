/*
 * range.c - copy_file_range(2): from one regular file to another of the same file system, through
 * kernel memory; no blocks are shared.
 */
#include "fs/calls/calls.h"

s64 sys_copy_file_range(int in_number, loff_t *from_given, int out_number, loff_t *to_given,
			size_t count, u32 flags)
{
	if (flags)
		return -EINVAL;
	struct fd in __free(fd) = TRY_FD(fdget(in_number));
	struct fd out __free(fd) = TRY_FD(fdget(out_number));
	loff_t from = in.file->position, to = out.file->position;
	if ((from_given && get_user(from, from_given)) || (to_given && get_user(to, to_given)))
		return -EFAULT;
	umode_t a = in.file->inode->mode, b = out.file->inode->mode;
	if (!S_ISREG(a) || !S_ISREG(b))
		return S_ISDIR(a) || S_ISDIR(b) ? -EISDIR : -EINVAL;
	if (!(in.file->mode & FMODE_READ) || !(out.file->mode & FMODE_WRITE) ||
	    (out.file->flags & O_APPEND))
		return -EBADF;
	if (in.file->inode->sb != out.file->inode->sb)
		return -EXDEV;
	if ((u64)from + count < count || (u64)to + count < count)
		return -EOVERFLOW;
	count = min(count, (size_t)max(in.file->inode->data.size - from, (loff_t)0));
	if (to >= (loff_t)out.file->inode->sb->max_bytes)
		return -EFBIG;
	if (from < 0 || to < 0)
		return -EINVAL;
	if (in.file->inode == out.file->inode && from < to + (loff_t)count &&
	    to < from + (loff_t)count)
		return -EINVAL;
	loff_t *read_at = from_given ? &from : &in.file->position;
	loff_t *write_at = to_given ? &to : &out.file->position;
	s64 result = copy_between(out.file, write_at, in.file, read_at, count);
	if ((to_given && put_user(to, to_given)) || (from_given && put_user(from, from_given)))
		return -EFAULT;
	return result;
}
