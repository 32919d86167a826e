/*
 * block_file.c - /dev/NAME of a block device: reads and writes through the buffer cache, as in
 * Linux 2.2, so that they see what a mounted file system has not yet written.
 */
#include "fs/block/dirty.h"
#include "fs/file/file.h"
#include "core/memory/slab.h"

#define BLKROGET 0x125e
#define BLKSSZGET 0x1268
#define BLKGETSIZE64 0x80081272u

/* Copy the @n bytes at @offset of @block to @copy, or from there: 0, -EIO, -ENOMEM. If a file has
 * the block in a page, who fills that has it locked, and a read would write over what he puts
 * there. He is not waited for with the buffer in hand, for which he may wait. */
static int move_part(struct block_device *device, u64 block, size_t offset, size_t n, char *copy,
		     enum block_operation what)
{
	struct buffer *buffer = TRY_PTR(buffer_get(device, block));

	while (buffer->page && !trylock_page(buffer->page)) {
		brelse(buffer);
		sleep_ns(100 * NSEC_PER_USEC);
		buffer = TRY_PTR(buffer_get(device, block));
	}
	bool whole = what == BLOCK_WRITE && n == buffer->size;
	int error = whole ? 0 : read_buffer(buffer);
	if (!error && what == BLOCK_READ) {
		memcpy(copy, (char *)buffer->data + offset, n);
	} else if (!error) {
		lock_buffer(buffer);
		memcpy((char *)buffer->data + offset, copy, n);
		set_bit_release(B_UPTODATE, &buffer->flags);
		unlock_buffer(buffer);
		mark_buffer_dirty(buffer);
	}
	if (buffer->page)
		unlock_page(buffer->page);
	brelse(buffer);
	return error;
}

/* A block is copied to memory of our own on its way to the program and from there: nobody keeps a
 * reference to a buffer across a copy that may fault (buffer.h). Others may move the position. */
static ssize_t move(struct file *file, struct io *io, loff_t *position, enum block_operation what)
{
	bool write = what == BLOCK_WRITE;
	struct block_device *device = file->inode->bdev;

	guard(read, &device->size_lock);
	size_t size = device->block_size;
	loff_t start = *position, at = start, end = (loff_t)(device->sectors * SECTOR_SIZE);
	char *copy __free(kfree) = TRY_PTR(kmalloc(size, GFP_KERNEL));
	int error = write && io->length && start >= end ? -ENOSPC : 0;

	while (io->length && at < end && !error && !fatal_signal_pending(current)) {
		size_t offset = (size_t)at & (size - 1);
		size_t n = min(size - offset, io->length);

		n = min_t(size_t, n, (size_t)(end - at));
		error = write && io_get(io, copy, n) < n ? -EFAULT :
			move_part(device, (u64)at / size, offset, n, copy, what);
		if (!error && !write && io_put(io, copy, n) < n)
			error = -EFAULT;
		if (!error)
			at += (loff_t)n;
		cond_resched();
	}
	if (write)
		balance_dirty();
	*position = at;
	return at > start ? at - start : error;
}

static ssize_t block_file_read(struct file *file, struct io *io, loff_t *position)
{
	return move(file, io, position, BLOCK_READ);
}

static ssize_t block_file_write(struct file *file, struct io *io, loff_t *position)
{
	if (file->inode->bdev->read_only)
		return -EPERM;
	ssize_t written = move(file, io, position, BLOCK_WRITE);
	if (written > 0 && file->flags & O_DSYNC)
		TRY(vfs_fsync(file, true));
	return written;
}

static s64 block_file_ioctl(struct file *file, unsigned command, u64 argument)
{
	int __user *word = (void *)(uintptr_t)argument;

	switch (command) {
	case BLKGETSIZE64:
		return put_user((u64)(file->inode->bdev->sectors * SECTOR_SIZE),
				(u64 __user *)(uintptr_t)argument);
	case BLKSSZGET:
		return put_user((int)SECTOR_SIZE, word);
	case BLKROGET:
		return put_user((int)file->inode->bdev->read_only, word);
	default:
		return -ENOTTY;
	}
}

static int block_file_fsync(struct file *file, bool data_only)
{
	struct block_device *device = file->inode->bdev;
	int error = sync_buffers(device, WB_SYNC_ALL) ?: block_flush(device);

	return block_take_error(device) ?: error;
}

const struct file_operations block_device_file_operations = {
	.read = block_file_read,
	.write = block_file_write,
	.seekable = true,
	.ioctl = block_file_ioctl,
	.fsync = block_file_fsync,
};
