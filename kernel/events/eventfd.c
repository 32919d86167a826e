/*
 * eventfd.c - eventfd(2): a number in the kernel that a write adds to and a read takes.
 *
 * A read waits while it is 0, a write while the sum would be more than COUNT_MAX. Of a semaphore a
 * read takes 1, else all.
 *
 * Lock: eventfd->lock, a spinlock inside of which none is taken: user memory is copied without it.
 */
#include "kernel/events/events.h"

#define COUNT_MAX (~0ULL - 1)

enum { EFD_SEMAPHORE = 1 }; /* EFD_CLOEXEC and EFD_NONBLOCK are O_CLOEXEC and O_NONBLOCK */

struct eventfd {
	wait_queue_head_t wait; /* readers and writers */
	spinlock_t lock;	/* count */
	u64 count;
	bool semaphore;
};

/* Take what a read gets: 0, nothing is there. */
static u64 take(struct eventfd *eventfd)
{
	guard(spinlock, &eventfd->lock);
	u64 value = eventfd->count;
	if (eventfd->semaphore)
		value = min(value, 1ULL);
	eventfd->count -= value;
	return value;
}

static bool add(struct eventfd *eventfd, u64 value)
{
	guard(spinlock, &eventfd->lock);
	if (value > COUNT_MAX - eventfd->count)
		return false;
	eventfd->count += value;
	return true;
}

static ssize_t eventfd_read(struct file *file, struct io *io, loff_t *position)
{
	struct eventfd *eventfd = file->private;
	u64 value = 0;

	if (io->length < sizeof(value))
		return -EINVAL;
	TRY(file_wait(file, eventfd->wait, (value = take(eventfd)) != 0));
	wake_up_events(&eventfd->wait, POLLOUT);
	if (io_put(io, &value, sizeof(value)) < sizeof(value))
		return -EFAULT;
	return sizeof(value);
}

static ssize_t eventfd_write(struct file *file, struct io *io, loff_t *position)
{
	struct eventfd *eventfd = file->private;
	u64 value;

	if (io->length != sizeof(value)) /* a read may have more room */
		return -EINVAL;
	if (io_get(io, &value, sizeof(value)) < sizeof(value))
		return -EFAULT;
	if (value > COUNT_MAX)
		return -EINVAL;
	TRY(file_wait(file, eventfd->wait, add(eventfd, value)));
	wake_up_events(&eventfd->wait, POLLIN);
	return sizeof(value);
}

static unsigned eventfd_poll(struct file *file, struct poll_table *table)
{
	struct eventfd *eventfd = file->private;
	unsigned mask = 0;

	poll_wait(file, &eventfd->wait, table);
	u64 count = READ_ONCE(eventfd->count);
	if (count)
		mask |= POLLIN;
	if (count < COUNT_MAX)
		mask |= POLLOUT;
	return mask;
}

static void eventfd_release(struct file *file)
{
	kfree(file->private);
}

static const struct file_operations eventfd_operations = {
	.release = eventfd_release,
	.read = eventfd_read,
	.write = eventfd_write,
	.poll = eventfd_poll,
};

s64 sys_eventfd2(u32 count, int flags)
{
	if (flags & ~(EFD_SEMAPHORE | O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	TRY(fd_room());
	struct eventfd *eventfd __free(kfree) = TRY_PTR(kzalloc(sizeof(*eventfd), GFP_KERNEL));
	init_waitqueue_head(&eventfd->wait);
	spin_lock_init(&eventfd->lock, "eventfd->lock");
	eventfd->count = count;
	eventfd->semaphore = flags & EFD_SEMAPHORE;
	struct file *file = TRY_PTR(anonymous_file("[eventfd]", &eventfd_operations, eventfd,
						   O_RDWR | ((u32)flags & O_NONBLOCK)));
	eventfd = NULL;
	return fd_add(file, 0, flags);
}

s64 sys_eventfd(u32 count)
{
	return sys_eventfd2(count, 0);
}
