/*
 * ahead.c - asking for reads and writes before they are needed: readahead(2), sync_file_range(2).
 */
#include "fs/calls/calls.h"

#define AHEAD_BYTES (4 * PAGE_SIZE) /* at a time, through memory that nobody looks at */
#define AHEAD_MOST KB(512)	    /* of one call, whatever it asks for, since it waits for them */

/* Errors of the disk are for who reads. */
s64 sys_readahead(int number, loff_t offset, size_t count)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	umode_t mode = fd.file->inode->mode;

	if (!(fd.file->mode & FMODE_READ))
		return -EBADF;
	if ((!S_ISREG(mode) && !S_ISBLK(mode)) || offset < 0 || (s64)count < 0)
		return -EINVAL;
	char *buffer __free(kfree) = TRY_PTR(kmalloc(AHEAD_BYTES, GFP_KERNEL));
	count = min(count, AHEAD_MOST);
	while (count && !signal_pending(current)) {
		ssize_t n = kernel_read(fd.file, buffer, min(count, AHEAD_BYTES), offset);

		if (n <= 0)
			break;
		offset += n;
		count -= (size_t)n;
	}
	return 0;
}

/* Whatever part is meant, all of the file is written, and waited for if it is to be. */
s64 sys_sync_file_range(int number, loff_t offset, loff_t length, u32 flags)
{
	enum { WAIT_BEFORE = 1, WRITE = 2, WAIT_AFTER = 4 };
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct inode *inode = fd.file->inode;

	if (flags & ~(u32)(WAIT_BEFORE | WRITE | WAIT_AFTER) || offset < 0 || length < 0 ||
	    offset + length < offset)
		return -EINVAL;
	if (!S_ISREG(inode->mode) && !S_ISBLK(inode->mode) && !S_ISDIR(inode->mode))
		return -ESPIPE;
	if (!flags || !fd.file->fop->fsync)
		return 0;
	if (flags == WRITE && S_ISREG(inode->mode) && inode->data.ops->writepage)
		return page_cache_flush(&inode->data);
	return vfs_fsync(fd.file, true);
}
