/*
 * block_file.c - reads and writes of /dev/NAME: through the buffer cache, as in Linux 2.2, in
 * blocks of the device's block size, so that they see what a mounted file system has not yet
 * written out.
 *
 * A block is copied to a buffer of our own before it goes to the program, and the other way round:
 * nobody keeps a reference to a buffer across a copy that may fault (buffer.h).
 */
#include "fs/buffer.h"
#include "fs/vfs.h"

#define BLKROGET 0x125e
#define BLKGETSIZE 0x1260
#define BLKFLSBUF 0x1261
#define BLKSSZGET 0x1268
#define BLKBSZGET 0x80081270u
#define BLKGETSIZE64 0x80081272u

static inline loff_t device_size(const struct block_device *device)
{
	return (loff_t)(device->sectors * SECTOR_SIZE);
}

/* One piece of a block, between the device and the program by way of @copy: bytes, or -errno. */
static ssize_t move_piece(struct block_device *device, struct io *io, loff_t at, void *copy,
			  bool write)
{
	size_t size = device->block_size, offset = (size_t)at & (size - 1);
	size_t n =
		min_t(size_t, min(size - offset, io->length), (size_t)(device_size(device) - at));
	u64 block = (u64)at / size;
	struct buffer *buffer;

	if (write)
		n = io_get(io, copy, n);
	if (!n)
		return -EFAULT;
	buffer = write && n == size ? buffer_get(device, block) : bread(device, block);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	if (write) {
		wait_on_buffer(buffer); /* a read in flight would write over it */
		memcpy((char *)buffer->data + offset, copy, n);
		set_buffer_uptodate(buffer);
		mark_buffer_dirty(buffer);
	} else {
		memcpy(copy, (char *)buffer->data + offset, n);
	}
	brelse(buffer);
	if (!write)
		n = io_put(io, copy, n);
	return n ? (ssize_t)n : -EFAULT;
}

static ssize_t move(struct file *file, struct io *io, loff_t *position, bool write)
{
	struct block_device *device = file->inode->bdev;
	loff_t start = *position, size = device_size(device);
	ssize_t n = 0;
	void *copy;

	if (start >= size)
		return write && io->length ? -ENOSPC : 0;
	copy = kmalloc(device->block_size, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	while (io->length && *position < size && n >= 0) {
		n = move_piece(device, io, *position, copy, write);
		*position += max_t(ssize_t, n, 0);
	}
	kfree(copy);
	if (write)
		balance_dirty();
	return *position > start ? *position - start : n;
}

static ssize_t block_file_read(struct file *file, struct io *io, loff_t *position)
{
	return move(file, io, position, false);
}

static ssize_t block_file_write(struct file *file, struct io *io, loff_t *position)
{
	return file->inode->bdev->read_only ? -EPERM : move(file, io, position, true);
}

static loff_t block_file_llseek(struct file *file, loff_t offset, int whence)
{
	loff_t size = device_size(file->inode->bdev);

	if (whence == SEEK_CUR)
		offset += file->position;
	else if (whence == SEEK_END)
		offset += size;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (offset < 0 || offset > size)
		return -EINVAL;
	file->position = offset;
	return offset;
}

static s64 block_file_ioctl(struct file *file, unsigned command, u64 argument)
{
	struct block_device *device = file->inode->bdev;
	void *user = (void *)(uintptr_t)argument;

	switch (command) {
	case BLKGETSIZE64:
		return put_user((u64)device_size(device), (u64 __user *)user);
	case BLKGETSIZE:
		return put_user(device->sectors, (u64 __user *)user);
	case BLKSSZGET:
		return put_user((int)SECTOR_SIZE, (int __user *)user);
	case BLKBSZGET:
		return put_user((int)device->block_size, (int __user *)user);
	case BLKROGET:
		return put_user((int)device->read_only, (int __user *)user);
	case BLKFLSBUF:
		if (current->cred->euid)
			return -EACCES;
		sync_buffers(device, true);
		invalidate_buffers(device);
		return 0;
	default:
		return -ENOTTY;
	}
}

static int block_file_fsync(struct file *file, bool data_only)
{
	return sync_buffers(file->inode->bdev, true) ?: block_flush(file->inode->bdev);
}

const struct file_operations block_device_file_operations = {
	.read = block_file_read,
	.write = block_file_write,
	.llseek = block_file_llseek,
	.ioctl = block_file_ioctl,
	.fsync = block_file_fsync,
};
