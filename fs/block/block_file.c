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

static inline loff_t device_size(const struct file *file)
{
	return (loff_t)(file->inode->bdev->sectors * SECTOR_SIZE);
}

/* A block is copied to memory of our own on its way to the program and from there: nobody keeps a
 * reference to a buffer across a copy that may fault (buffer.h). */
static ssize_t move(struct file *file, struct io *io, loff_t *position, enum block_operation what)
{
	bool write = what == BLOCK_WRITE;
	struct block_device *device = file->inode->bdev;
	size_t size = device->block_size;
	loff_t start = *position, end = device_size(file);
	char *copy __free(kfree) = TRY_PTR(kmalloc(size, GFP_KERNEL));
	int error = write && io->length && start >= end ? -ENOSPC : 0;

	while (io->length && *position < end && !error) {
		size_t offset = (size_t)*position & (size - 1);
		size_t n = min(size - offset, io->length);
		u64 block = (u64)*position / size;

		n = min_t(size_t, n, (size_t)(end - *position));
		if (write && io_get(io, copy, n) < n) {
			error = -EFAULT;
			break;
		}
		struct buffer *buffer =
			write && n == size ? buffer_get(device, block) : bread(device, block);

		if (IS_ERR(buffer)) {
			error = (int)PTR_ERR(buffer);
			break;
		}
		if (write) {
			wait_on_buffer(buffer); /* a read in flight would write over it */
			memcpy((char *)buffer->data + offset, copy, n);
			set_bit_release(B_UPTODATE, &buffer->flags);
			mark_buffer_dirty(buffer);
		} else {
			memcpy(copy, (char *)buffer->data + offset, n);
		}
		brelse(buffer);
		if (!write && io_put(io, copy, n) < n)
			error = -EFAULT;
		else
			*position += (loff_t)n;
	}
	if (write)
		balance_dirty();
	if (*position > start)
		return *position - start;
	return error;
}

static ssize_t block_file_read(struct file *file, struct io *io, loff_t *position)
{
	return move(file, io, position, BLOCK_READ);
}

static ssize_t block_file_write(struct file *file, struct io *io, loff_t *position)
{
	if (file->inode->bdev->read_only)
		return -EPERM;
	return move(file, io, position, BLOCK_WRITE);
}

static s64 block_file_ioctl(struct file *file, unsigned command, u64 argument)
{
	struct block_device *device = file->inode->bdev;
	u64 __user *wide = (void *)(uintptr_t)argument;
	int __user *word = (void *)(uintptr_t)argument;

	switch (command) {
	case BLKGETSIZE64:
		return put_user((u64)device_size(file), wide);
	case BLKSSZGET:
		return put_user((int)SECTOR_SIZE, word);
	case BLKROGET:
		return put_user((int)device->read_only, word);
	default:
		return -ENOTTY;
	}
}

static int block_file_fsync(struct file *file, bool data_only)
{
	return sync_buffers(file->inode->bdev, WB_SYNC_ALL) ?: block_flush(file->inode->bdev);
}

const struct file_operations block_device_file_operations = {
	.read = block_file_read,
	.write = block_file_write,
	.seekable = true,
	.ioctl = block_file_ioctl,
	.fsync = block_file_fsync,
};
