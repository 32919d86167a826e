/*
 * poll.c - waiting for any of several files.
 *
 * Each descriptor has an item with a wait-queue entry, which the file's poll method puts into the
 * one queue that it names. The entry's wake function marks the table triggered and wakes the task;
 * so a wake-up between the look at the files and the sleep is not lost. All files are looked at
 * again after a wake-up, without queueing.
 *
 * No locks held over the calls of poll methods.
 */
#include "fs/poll.h"

#include "fs/vfs.h"

#define POLL_INLINE 8 /* descriptors that need no allocation */

struct poll_item {
	struct file *file;	  /* NULL for a negative or bad number */
	wait_queue_head_t *queue; /* that the entry is in, or NULL */
	struct wait_queue_entry entry;
	struct poll_table *table;
};

struct poll_table {
	struct poll_item *item; /* of the file being asked; NULL: its answer is enough */
	bool triggered;		/* a queue was woken since the last look */
};

static void poll_wake(struct wait_queue_entry *entry)
{
	struct poll_item *item = container_of(entry, struct poll_item, entry);

	WRITE_ONCE(item->table->triggered, true);
	smp_mb();
	wake_up_task(entry->task);
}

void poll_wait(struct file *file, wait_queue_head_t *queue, struct poll_table *table)
{
	struct poll_item *item = table->item;

	if (!item)
		return;
	ASSERT(!item->queue);
	item->entry = (struct wait_queue_entry){.task = current, .wake = poll_wake};
	item->table = table;
	item->queue = queue;
	add_wait_queue(queue, &item->entry);
}

static unsigned ask(const struct pollfd *fd, struct file *file, struct poll_table *table)
{
	unsigned mask = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;

	if (!file)
		return fd->fd < 0 ? 0 : POLLNVAL;
	if (file->fop->poll)
		mask = file->fop->poll(file, table);
	return mask & ((u16)fd->events | POLLERR | POLLHUP);
}

static s64 look_and_wait(struct pollfd *fds, struct poll_item *items, u32 count, u64 deadline)
{
	struct poll_table table;

	for (bool first = true;; first = false) {
		s64 ready = 0;

		WRITE_ONCE(table.triggered, false);
		set_current_state(TASK_INTERRUPTIBLE);
		for (u32 i = 0; i < count; i++) {
			/* Queued only where it may sleep. */
			table.item = first && deadline && !ready ? &items[i] : NULL;
			fds[i].revents = (s16)ask(&fds[i], items[i].file, &table);
			ready += fds[i].revents != 0;
		}
		if (ready || !deadline)
			return ready;
		if (deadline <= ktime_ns())
			return 0;
		if (signal_pending(current))
			return -EINTR;
		set_current_state(TASK_INTERRUPTIBLE); /* a poll method may have slept */
		if (!READ_ONCE(table.triggered))
			schedule_until(deadline);
	}
}

s64 poll_descriptors(struct pollfd *fds, u32 count, u64 deadline)
{
	struct poll_item few[POLL_INLINE], *items = few;
	s64 result;

	if (count > POLL_INLINE)
		items = kmalloc(count * sizeof(*items), GFP_KERNEL);
	if (!items)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		items[i].file = fds[i].fd < 0 ? NULL : fget(fds[i].fd);
		items[i].queue = NULL;
	}
	result = look_and_wait(fds, items, count, deadline);
	__set_current_state(TASK_RUNNING);
	for (u32 i = 0; i < count; i++) {
		if (items[i].queue)
			remove_wait_queue(items[i].queue, &items[i].entry);
		if (items[i].file)
			fput(items[i].file);
	}
	if (items != few)
		kfree(items);
	return result;
}
