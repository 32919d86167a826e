/*
 * queue.c - the events of an inotify, from when they are told until they are read. See inotify.h.
 *
 * States of an event: made (queue_event()) -> waiting (inotify->events) -> taken by a read, given
 * to the program, freed. What a read has taken and cannot give (EFAULT) is lost, as in Linux. The
 * event that tells of lost ones is part of the inotify: there is one at a time, and it needs no
 * memory.
 */
#include "fs/cred.h"
#include "kernel/events/events.h"
#include "kernel/inotify/inotify.h"

/* struct inotify_event of the ABI, with room for the longest name. */
struct given {
	int wd;
	u32 mask, cookie, bytes;
	char name[NAME_MAX + 1];
};
#define HEAD_BYTES ((u32)offsetof(struct given, name))

static const struct file_operations queue_operations;

/* Bytes of the events that wait in all queues: beyond an eighth of memory more are lost, but for
 * the first EVENTS_SURE of each queue. */
#define EVENTS_SURE 32
static atomic64_t waiting;

static bool may_wait(const struct inotify *inotify, u32 bytes)
{
	return READ_ONCE(inotify->count) < EVENTS_SURE ||
	       (u64)atomic_read(&waiting) + bytes <= page_alloc_total_pages() * PAGE_SIZE / 8;
}

static void free_event(struct inotify *inotify, struct event *event)
{
	if (event == &inotify->overflow)
		return;
	atomic_sub((s64)(sizeof(*event) + event->length), &waiting);
	kfree(event);
}

/* ---- putting in ------------------------------------------------------------------------------ */

/* Of the name with its end and filler bytes, as it is given. */
static u32 name_bytes(const struct event *event)
{
	return event->length ? round_up(event->length + 1, HEAD_BYTES) : 0;
}

static bool equal_events(const struct event *a, const struct event *b)
{
	return a->wd == b->wd && a->mask == b->mask && a->length == b->length &&
	       !(a->mask & IN_IGNORED) && !memcmp(a->name, b->name, a->length);
}

/* @event, or the one that tells of lost ones, to the end of the queue. Was @event taken over? */
static bool put_in(struct inotify *inotify, struct event *event)
{
	struct event *put = event;

	guard(spinlock, &inotify->lock);
	if (!event || inotify->count >= EVENTS_MAX)
		put = &inotify->overflow;
	else if (!list_empty(&inotify->events) &&
		 equal_events(list_last_entry(&inotify->events, struct event, link), event))
		return false;
	if (!list_empty(&put->link)) /* lost ones have been told of */
		return false;
	list_add_tail(&put->link, &inotify->events);
	inotify->count++;
	inotify->bytes += HEAD_BYTES + name_bytes(put);
	return put == event;
}

void queue_event(struct inotify *inotify, int wd, u32 mask, u32 cookie, const char *name,
		 u32 length)
{
	u32 bytes = sizeof(struct event) + length;
	/* without reclaim, which may end the last use of a watched directory, and come here */
	struct event *event =
		may_wait(inotify, bytes) ? kmalloc(bytes, GFP_ATOMIC | GFP_NOWARN) : NULL;

	if (event) {
		atomic_add(bytes, &waiting);
		*event = (struct event){.wd = wd, .mask = mask, .cookie = cookie, .length = length};
		INIT_LIST_HEAD(&event->link);
		memcpy(event->name, name, length);
	}
	if (!put_in(inotify, event) && event)
		free_event(inotify, event);
	wake_up_events(&inotify->wait, POLLIN | POLLRDNORM);
}

/* ---- taking out ------------------------------------------------------------------------------ */

/* The first event, which leaves the queue; NULL: there is none; ERR_PTR(-EINVAL): @room bytes are
 * too few for it. */
static struct event *take_out(struct inotify *inotify, size_t room)
{
	guard(spinlock, &inotify->lock);
	if (list_empty(&inotify->events))
		return NULL;
	struct event *event = list_first_entry(&inotify->events, struct event, link);
	u32 bytes = HEAD_BYTES + name_bytes(event);
	if (bytes > room)
		return ERR_PTR(-EINVAL);
	list_del_init(&event->link);
	inotify->count--;
	inotify->bytes -= bytes;
	return event;
}

/* Does the program have @event now? */
static bool give(const struct event *event, struct io *io)
{
	struct given given = {event->wd, event->mask, event->cookie, name_bytes(event), ""};
	u32 bytes = HEAD_BYTES + given.bytes;

	memcpy(given.name, event->name, event->length);
	return io_put(io, &given, bytes) == bytes;
}

static ssize_t queue_read(struct file *file, struct io *io, loff_t *position)
{
	struct inotify *inotify = file->private;
	size_t room = io->length;
	struct event *event;

	TRY(file_wait(file, inotify->wait, (event = take_out(inotify, room)) != NULL));
	while (!IS_ERR_OR_NULL(event)) {
		bool given = give(event, io);

		free_event(inotify, event);
		if (!given)
			return -EFAULT;
		event = take_out(inotify, io->length);
	}
	if (io->length < room)
		return (ssize_t)(room - io->length);
	return PTR_ERR(event);
}

static unsigned queue_poll(struct file *file, struct poll_table *table)
{
	struct inotify *inotify = file->private;

	poll_wait(file, &inotify->wait, table);
	return list_empty(&inotify->events) ? 0 : POLLIN | POLLRDNORM;
}

static s64 queue_ioctl(struct file *file, unsigned command, u64 argument)
{
	const struct inotify *inotify = file->private;

	if (command != FIONREAD)
		return -ENOTTY;
	return put_user((int)READ_ONCE(inotify->bytes), (int *)argument);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void inotify_free(struct inotify *inotify)
{
	struct event *event;

	inotify_delist(inotify);
	while ((event = take_out(inotify, ~0ULL)) != NULL)
		free_event(inotify, event);
	kfree(inotify);
}

static void queue_release(struct file *file)
{
	inotify_free(file->private);
}

static const struct file_operations queue_operations = {
	.release = queue_release,
	.read = queue_read,
	.ioctl = queue_ioctl,
	.poll = queue_poll,
};

struct inotify *inotify_of(const struct file *file)
{
	return file->fop == &queue_operations ? file->private : NULL;
}

struct file *inotify_file(u32 flags)
{
	struct inotify *inotify = kzalloc(sizeof(*inotify), GFP_KERNEL);

	if (!inotify)
		return ERR_PTR(-ENOMEM);
	inotify->uid = current->cred->euid;
	INIT_LIST_HEAD(&inotify->watches);
	INIT_LIST_HEAD(&inotify->events);
	spin_lock_init(&inotify->lock, "inotify->lock");
	init_waitqueue_head(&inotify->wait);
	inotify->overflow.wd = -1;
	inotify->overflow.mask = IN_Q_OVERFLOW;
	INIT_LIST_HEAD(&inotify->overflow.link);
	int error = inotify_enlist(inotify);
	if (error) {
		kfree(inotify);
		return ERR_PTR(error);
	}
	struct file *file = anonymous_file("inotify", &queue_operations, inotify,
					   O_RDONLY | (flags & O_NONBLOCK));
	if (IS_ERR(file))
		inotify_free(inotify);
	return file;
}
