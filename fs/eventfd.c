/*
 * eventfd.c - eventfd2(2): a file that is a counter of 64 bits.
 */
#include "fs/internal.h"
#include "fs/tmpfs/tmpfs.h"

#define EFD_SEMAPHORE 1
#define COUNT_MAX (~0ull - 1)

struct event { /* file->private; until the file is open, inode->private */
	u64 count;
	bool semaphore;
	wait_queue_head_t wait;
};

/* Take the whole count, or one of it, or add to it; false: there is nothing, or no room. */
static bool change(struct event *event, u64 *value, bool take)
{
	u64 count = READ_ONCE(event->count);

	do {
		if (take)
			*value = event->semaphore && count ? 1 : count;
		if (take ? !count : *value > COUNT_MAX - count)
			return false;
	} while (!try_cmpxchg(&event->count, &count, take ? count - *value : count + *value));
	return true;
}

static ssize_t event_read(struct file *file, struct io *io, loff_t *position)
{
	struct event *event = file->private;
	u64 value;

	if (io->length < sizeof(value))
		return -EINVAL;
	TRY(file_wait(file, event->wait, change(event, &value, true)));
	wake_up(&event->wait);
	return io_put(io, &value, sizeof(value)) == sizeof(value) ? (ssize_t)sizeof(value)
								  : -EFAULT;
}

static ssize_t event_write(struct file *file, struct io *io, loff_t *position)
{
	struct event *event = file->private;
	u64 value;

	if (io->length < sizeof(value))
		return -EINVAL;
	if (io_get(io, &value, sizeof(value)) != sizeof(value))
		return -EFAULT;
	if (value > COUNT_MAX)
		return -EINVAL;
	TRY(file_wait(file, event->wait, change(event, &value, false)));
	wake_up(&event->wait);
	return sizeof(value);
}

static unsigned event_poll(struct file *file, struct poll_table *table)
{
	struct event *event = file->private;

	poll_wait(file, &event->wait, table);
	u64 count = READ_ONCE(event->count);
	return (count ? POLLIN | POLLRDNORM : 0) | (count < COUNT_MAX ? POLLOUT | POLLWRNORM : 0);
}

/* A second open file, through /proc/self/fd, is refused as by Linux: the first one's end is the
 * end. */
static int event_open(struct inode *inode, struct file *file)
{
	file->private = xchg(&inode->private, NULL);
	return file->private ? 0 : -ENXIO;
}

static void event_release(struct file *file)
{
	kfree(file->private);
}

static const struct file_operations event_operations = {
	.open = event_open,
	.read = event_read,
	.write = event_write,
	.poll = event_poll,
	.release = event_release,
};

s64 sys_eventfd2(unsigned count, int flags)
{
	struct path path __free(path) = {0};
	struct event *event __free(kfree) = NULL;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK | EFD_SEMAPHORE))
		return -EINVAL;
	TRY(tmpfs_nameless(0600, &path));
	path.dentry->inode->fop = &event_operations;
	event = TRY_PTR(kzalloc(sizeof(*event), GFP_KERNEL));
	event->count = count;
	event->semaphore = flags & EFD_SEMAPHORE;
	init_waitqueue_head(&event->wait);
	path.dentry->inode->private = event;
	struct file *file = TRY_PTR(file_open_path(&path, O_RDWR | (flags & O_NONBLOCK)));
	event = NULL; /* the file's */
	return fd_add(file, 0, flags & O_CLOEXEC);
}
