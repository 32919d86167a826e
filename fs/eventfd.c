/*
 * eventfd.c - eventfd2(2): a file that is a counter of 64 bits.
 *
 * The counter is in the inode. They are few, so those who wait for any of them wait in one queue.
 */
#include "fs/internal.h"
#include "fs/tmpfs/tmpfs.h"

#define EFD_SEMAPHORE 1
#define COUNT_MAX (~0ull - 1)

static DEFINE_WAIT_QUEUE(event_wait);

/* Take the whole count, or one of it, or add to it; false: there is nothing, or no room. */
static bool change(struct file *file, u64 *value, bool take)
{
	u64 *count = &file->inode->event_count;

	guard(spinlock, &file->inode->spin);
	if (take ? !*count : *value > COUNT_MAX - *count)
		return false;
	if (take)
		*value = file->private ? 1 : *count; /* private: it is a semaphore */
	WRITE_ONCE(*count, take ? *count - *value : *count + *value);
	return true;
}

static ssize_t transfer(struct file *file, struct io *io, bool take)
{
	u64 value = 0;

	if (io->length < sizeof(value))
		return -EINVAL;
	if (!take && io_get(io, &value, sizeof(value)) != sizeof(value))
		return -EFAULT;
	if (value > COUNT_MAX)
		return -EINVAL;
	TRY(file_wait(file, event_wait, change(file, &value, take)));
	wake_up(&event_wait);
	if (take && io_put(io, &value, sizeof(value)) != sizeof(value))
		return -EFAULT;
	return sizeof(value);
}

static ssize_t event_read(struct file *file, struct io *io, loff_t *position)
{
	return transfer(file, io, true);
}

static ssize_t event_write(struct file *file, struct io *io, loff_t *position)
{
	return transfer(file, io, false);
}

static unsigned event_poll(struct file *file, struct poll_table *table)
{
	poll_wait(file, &event_wait, table);
	u64 count = READ_ONCE(file->inode->event_count);
	return (count ? POLLIN | POLLRDNORM : 0) | (count < COUNT_MAX ? POLLOUT | POLLWRNORM : 0);
}

static const struct file_operations event_operations = {
	.read = event_read, .write = event_write, .poll = event_poll};

s64 sys_eventfd2(unsigned count, int flags)
{
	struct path path __free(path) = {0};

	if (flags & ~(O_CLOEXEC | O_NONBLOCK | EFD_SEMAPHORE))
		return -EINVAL;
	TRY(tmpfs_nameless(0600, &path));
	struct inode *inode = path.dentry->inode;
	const struct file_operations *closed = inode->fop;
	inode->event_count = count;
	inode->fop = &event_operations;
	struct file *file = TRY_PTR(file_open_path(&path, O_RDWR | (flags & O_NONBLOCK)));
	file->private = flags & EFD_SEMAPHORE ? file : NULL;
	inode->fop = closed; /* a second open, through /proc/self/fd, is ENXIO: as on Linux */
	return fd_add(file, 0, flags & O_CLOEXEC);
}
