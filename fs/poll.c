/*
 * poll.c - waiting for any of several files.
 *
 * The caller's struct poll_table holds a wait-queue entry for each queue that a file's poll method
 * names. The entries' wake function marks the table triggered and wakes the task; so a wake-up
 * between the look at the files and the sleep is not lost. All files are looked at again after a
 * wake-up, without queueing.
 *
 * No locks held over the calls of poll methods. select(2) is translated to this by kernel/sys.
 */
#include "fs/poll.h"

#include "fs/vfs.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "mm/slab.h"

#define POLL_INLINE 8 /* waits and descriptors that need no allocation */

struct poll_wait {
	struct wait_queue_entry entry;
	wait_queue_head_t *queue;
	struct poll_table *table;
	struct poll_wait *next;
	bool allocated;
};

struct poll_table {
	struct task *task;
	bool queueing;	/* first pass: poll_wait() queues */
	bool triggered; /* a queue was woken since the last look */
	int error;	/* -ENOMEM */
	struct poll_wait *waits;
	unsigned inline_used;
	struct poll_wait inline_waits[POLL_INLINE];
};

static void poll_wake(struct wait_queue_entry *entry)
{
	struct poll_wait *wait = container_of(entry, struct poll_wait, entry);

	WRITE_ONCE(wait->table->triggered, true);
	smp_mb();
	wake_up_task(wait->table->task);
}

void poll_wait(struct file *file, wait_queue_head_t *queue, struct poll_table *table)
{
	struct poll_wait *wait;

	(void)file;
	if (!table || !table->queueing || table->error)
		return;
	if (table->inline_used < POLL_INLINE) {
		wait = &table->inline_waits[table->inline_used++];
		wait->allocated = false;
	} else {
		wait = kmalloc(sizeof(*wait), GFP_KERNEL);
		if (!wait) {
			table->error = -ENOMEM;
			return;
		}
		wait->allocated = true;
	}
	wait->entry.task = table->task;
	wait->entry.wake = poll_wake;
	INIT_LIST_HEAD(&wait->entry.link);
	wait->queue = queue;
	wait->table = table;
	wait->next = table->waits;
	table->waits = wait;
	add_wait_queue(queue, &wait->entry);
}

static void poll_table_init(struct poll_table *table)
{
	table->task = current;
	table->queueing = true;
	table->triggered = false;
	table->error = 0;
	table->waits = NULL;
	table->inline_used = 0;
}

static void poll_table_free(struct poll_table *table)
{
	struct poll_wait *next;

	for (struct poll_wait *wait = table->waits; wait; wait = next) {
		next = wait->next;
		remove_wait_queue(wait->queue, &wait->entry);
		if (wait->allocated)
			kfree(wait);
	}
}

static unsigned poll_file(struct file *file, struct poll_table *table)
{
	if (!file->fop->poll)
		return POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
	return file->fop->poll(file, table);
}

/* Ask every file once; how many have something to say. files[i] is NULL for a negative or bad
 * number. */
static u32 poll_scan(struct pollfd *fds, struct file **files, u32 count, struct poll_table *table)
{
	u32 ready = 0;

	for (u32 i = 0; i < count; i++) {
		unsigned mask = 0;

		if (files[i])
			mask = poll_file(files[i], table) & (fds[i].events | POLLERR | POLLHUP);
		else if (fds[i].fd >= 0)
			mask = POLLNVAL;
		fds[i].revents = (s16)mask;
		if (mask) {
			ready++;
			table->queueing = false; /* we shall not sleep */
		}
	}
	table->queueing = false;
	return ready;
}

/* Number ready, 0 on time-out, -EINTR (restartable by the caller), -ENOMEM. */
static s64 poll_loop(struct pollfd *fds, struct file **files, u32 count, s64 timeout_ns)
{
	struct poll_table table;
	u64 left = timeout_ns < 0 ? ~0ULL : (u64)timeout_ns;
	s64 result;

	poll_table_init(&table);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		WRITE_ONCE(table.triggered, false);
		result = poll_scan(fds, files, count, &table);
		if (result || table.error || !left)
			break;
		if (signal_pending(current)) {
			result = -EINTR;
			break;
		}
		set_current_state(TASK_INTERRUPTIBLE); /* a poll method may have slept */
		if (!READ_ONCE(table.triggered))
			left = schedule_timeout_ns(left);
	}
	__set_current_state(TASK_RUNNING);
	poll_table_free(&table);
	return result ? result : table.error;
}

s64 poll_descriptors(struct pollfd *fds, u32 count, s64 timeout_ns)
{
	struct file *inline_files[POLL_INLINE];
	struct file **files = inline_files;
	s64 result;

	if (count > POLL_INLINE) {
		files = kmalloc(count * sizeof(*files), GFP_KERNEL);
		if (!files)
			return -ENOMEM;
	}
	for (u32 i = 0; i < count; i++)
		files[i] = fds[i].fd >= 0 ? fget(fds[i].fd) : NULL;
	result = poll_loop(fds, files, count, timeout_ns);
	for (u32 i = 0; i < count; i++)
		if (files[i])
			fput(files[i]);
	if (files != inline_files)
		kfree(files);
	return result;
}

s64 vfs_poll(struct pollfd __user *user_fds, u32 count, s64 timeout_ns)
{
	struct pollfd inline_fds[POLL_INLINE];
	struct pollfd *fds = inline_fds;
	s64 result;

	if (count > POLL_INLINE) {
		fds = kmalloc(count * sizeof(*fds), GFP_KERNEL);
		if (!fds)
			return -ENOMEM;
	}
	if (copy_from_user(fds, user_fds, count * sizeof(*fds)))
		result = -EFAULT;
	else
		result = poll_descriptors(fds, count, timeout_ns);
	for (u32 i = 0; result >= 0 && i < count; i++)
		if (put_user(fds[i].revents, &user_fds[i].revents))
			result = -EFAULT;
	if (fds != inline_fds)
		kfree(fds);
	return result;
}
