/*
 * tmpfs.c - space for tmpfs's files: a page that was reserved is dirty, and so no hole.
 */
#include "fs/inode/times.h"
#include "fs/tmpfs/pages.h"
#include "mm/cache/page_lookup.h"

static int reserve(struct inode *inode, u64 start, u64 end)
{
	for (pgoff_t i = start >> PAGE_SHIFT; i << PAGE_SHIFT < end; i++) {
		struct page *page = TRY_PTR(find_or_create_page(&inode->data, i));
		int error = tmpfs_page_operations.write_begin(inode, page, 0, 0);

		if (!error)
			tmpfs_page_operations.write_end(inode, page, 0, 0);
		unlock_page(page);
		put_page(page);
		TRY(error);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

int tmpfs_fallocate(struct inode *inode, int mode, loff_t offset, loff_t length)
{
	u64 start = (u64)offset, end = (u64)(offset + length);
	bool punch = mode & FALLOC_FL_PUNCH_HOLE;
	int error = 0;

	lockdep_assert_held(&inode->lock);
	if (!punch && length >> PAGE_SHIFT > super_of(inode)->pages.limit)
		return -ENOSPC; /* before it has taken all there is */
	if (!punch)
		error = reserve(inode, start, end);
	if (punch)
		truncate_inode_pages(&inode->data, start, end);
	else if (error && end > (u64)inode->data.size) /* before that it may be in use already */
		truncate_inode_pages(&inode->data, max(start, (u64)inode->data.size), FILE_END);
	TRY(error);
	if (!(mode & FALLOC_FL_KEEP_SIZE) && (loff_t)end > inode->data.size)
		inode->data.size = (loff_t)end;
	file_update_time(inode);
	return 0;
}
