/*
 * eventfd.c - eventfd2(2): a file that is a counter of 64 bits.
 *
 * A read takes the whole count (one, with EFD_SEMAPHORE) and waits while it is zero; a write adds
 * to it and waits while the sum would pass 2^64 - 2.
 *
 * Lock: event->lock guards the count.
 */
#include "fs/anonymous.h"
#include "fs/poll.h"

#define EFD_SEMAPHORE 1
#define COUNT_MAX (~0ull - 1)

struct event { /* inode->private */
	spinlock_t lock;
	u64 count;
	bool semaphore;
	wait_queue_head_t wait;
};

static bool take(struct event *event, u64 *value)
{
	spin_lock(&event->lock);
	*value = event->semaphore && event->count ? 1 : event->count;
	event->count -= *value;
	spin_unlock(&event->lock);
	return *value;
}

static bool add(struct event *event, u64 value)
{
	bool fits;

	spin_lock(&event->lock);
	fits = value <= COUNT_MAX - event->count;
	if (fits)
		event->count += value;
	spin_unlock(&event->lock);
	return fits;
}

static ssize_t event_read(struct file *file, struct io *io, loff_t *position)
{
	struct event *event = file->inode->private;
	u64 value;
	int error;

	if (io->length < sizeof(value))
		return -EINVAL;
	while (!take(event, &value)) {
		error = file->flags & O_NONBLOCK
				? -EAGAIN
				: wait_event_interruptible(event->wait, READ_ONCE(event->count));
		if (error)
			return error;
	}
	wake_up(&event->wait);
	return io_put(io, &value, sizeof(value)) == sizeof(value) ? (ssize_t)sizeof(value)
								  : -EFAULT;
}

static ssize_t event_write(struct file *file, struct io *io, loff_t *position)
{
	struct event *event = file->inode->private;
	u64 value;
	int error;

	if (io->length < sizeof(value))
		return -EINVAL;
	if (io_get(io, &value, sizeof(value)) != sizeof(value))
		return -EFAULT;
	if (value > COUNT_MAX)
		return -EINVAL;
	while (!add(event, value)) {
		error = file->flags & O_NONBLOCK
				? -EAGAIN
				: wait_event_interruptible(
					  event->wait,
					  value <= COUNT_MAX - READ_ONCE(event->count));
		if (error)
			return error;
	}
	wake_up(&event->wait);
	return sizeof(value);
}

static unsigned event_poll(struct file *file, struct poll_table *table)
{
	struct event *event = file->inode->private;
	u64 count;

	poll_wait(file, &event->wait, table);
	count = READ_ONCE(event->count);
	return (count ? POLLIN | POLLRDNORM : 0) | (count < COUNT_MAX ? POLLOUT | POLLWRNORM : 0);
}

static void event_release(struct file *file)
{
	kfree(file->inode->private);
	file->inode->private = NULL;
}

/* A second open file, through /proc/self/fd, is refused as by Linux: the first one's end is the
 * end. */
static int event_open(struct inode *inode, struct file *file)
{
	return -ENXIO;
}

static const struct file_operations event_operations = {
	.open = event_open,
	.read = event_read,
	.write = event_write,
	.poll = event_poll,
	.release = event_release,
};

static int event_create(struct file *file, unsigned count, int flags)
{
	struct event *event = kzalloc(sizeof(*event), GFP_KERNEL);
	struct dentry *dentry = event ? anonymous_dentry(0600, &event_operations) : NULL;

	if (!dentry) {
		kfree(event);
		return -ENOMEM;
	}
	spin_lock_init(&event->lock, "eventfd");
	init_waitqueue_head(&event->wait);
	event->count = count;
	event->semaphore = flags & EFD_SEMAPHORE;
	dentry->inode->private = event;
	anonymous_open(file, dentry, FMODE_READ | FMODE_WRITE, O_RDWR | (flags & O_NONBLOCK));
	dput(dentry);
	return 0;
}

s64 sys_eventfd2(unsigned count, int flags)
{
	struct file *file;
	int error, fd;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK | EFD_SEMAPHORE))
		return -EINVAL;
	file = file_alloc();
	if (IS_ERR(file))
		return PTR_ERR(file);
	error = event_create(file, count, flags);
	fd = error ? error : fd_alloc(0, flags & O_CLOEXEC);
	if (fd < 0)
		fput(file);
	else
		fd_install(fd, file);
	return fd;
}
