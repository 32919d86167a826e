/*
 * sys_poll.c - poll and select: waiting for any of several files.
 *
 * Each descriptor has an entry for the one wait queue that its file's poll method names. The task
 * says that it sleeps before it looks at the files, so that a wake-up between a look and the sleep
 * is not lost; after one all files are looked at again. No locks are held over the calls of poll
 * methods. Time-outs are points in time: ~0 for ever, 0 not at all.
 */
#include "kernel/proc/process.h"

#define SELECT_MAX 4096 /* descriptors; select(2) itself is for 1024 */
#define FOR_EVER (~0ULL)

/* What ppoll and pselect6 begin with: when the wait ends, and the signals to be blocked until then.
 */
static int begin_wait(const void *timeout, const u64 *user_mask, size_t set_size, u64 *deadline)
{
	u64 mask;

	TRY(get_deadline(timeout, deadline));
	if (!user_mask)
		return 0;
	TRY(get_signal_set(user_mask, set_size, &mask));
	signal_set_temporarily(mask);
	return 0;
}

/* And end with: the old mask, unless a signal is still to be delivered under the temporary one (the
 * way to user mode restores it then), and the time left; a fault there is not reported, as in
 * Linux. */
static s64 end_wait(s64 result, void *timeout, u64 deadline)
{
	struct signal_state *signals = current->signals;

	if (signals->saved_blocked != signals->blocked && result != -ERESTART_RESTARTBLOCK)
		signal_set_blocked(signals->saved_blocked);
	if (timeout)
		(void)put_timespec(timeout, time_left(deadline));
	return result;
}

/* ---- poll ------------------------------------------------------------------------------------ */

struct poll_item {
	struct pollfd fd; /* select's events are the numbers of its sets, as bits */
	unsigned asked;	  /* what ends the wait */
	struct fd file; /* none of a negative or bad number */
	struct poll_table table;
};

static bool ask(struct poll_item *item, struct poll_table *table)
{
	unsigned mask = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;

	if (!item->file.file) {
		item->fd.revents = item->fd.fd < 0 ? 0 : POLLNVAL;
	} else {
		if (item->file.file->fop->poll)
			mask = item->file.file->fop->poll(item->file.file, table);
		item->fd.revents = (s16)(mask & item->asked);
	}
	return item->fd.revents;
}

/* Fill in what the files of @count items answer, once one has an answer or the time is over: how
 * many have one, or -ERESTART_RESTARTBLOCK. All but asked, and fd's number and events, is zero. */
static s64 wait_for_items(struct poll_item *items, u32 count, u64 deadline)
{
	s64 ready = 0;

	for (struct poll_item *item = items; item < items + count; item++) {
		item->file = fdget(item->fd.fd);
		item->table.entry.task = current;
		INIT_LIST_HEAD(&item->table.entry.link);
	}
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		for (u32 i = 0; i < count; i++) /* queued only where it may sleep */
			ready += ask(&items[i], deadline && !ready ? &items[i].table : NULL);
		if (ready || deadline <= ktime_ns())
			break;
		if (signal_pending(current)) {
			ready = -ERESTART_RESTARTBLOCK;
			break;
		}
		schedule_until(deadline);
	}
	__set_current_state(TASK_RUNNING);
	for (struct poll_item *item = items; item < items + count; item++) {
		if (item->table.queue)
			remove_wait_queue(item->table.queue, &item->table.entry);
		fdput(item->file);
	}
	return ready;
}

static s64 poll_user(struct pollfd *user_fds, u32 count, u64 deadline)
{
	if (count > current_limit(RLIMIT_NOFILE))
		return -EINVAL;
	struct poll_item *items __free(kfree) =
		TRY_PTR(kzalloc(count * sizeof(*items), GFP_KERNEL));
	for (u32 i = 0; i < count; i++) {
		TRY(read_user(&items[i].fd, &user_fds[i], sizeof(items[i].fd)));
		items[i].asked = (u16)items[i].fd.events | POLLERR | POLLHUP;
	}
	s64 result = wait_for_items(items, count, deadline);
	for (u32 i = 0; result >= 0 && i < count; i++)
		if (put_user(items[i].fd.revents, &user_fds[i].revents))
			return -EFAULT;
	return result;
}

s64 sys_poll(void *fds, u32 count, int timeout_ms)
{
	u64 ns = timeout_ms < 0 ? FOR_EVER : (u64)timeout_ms * NSEC_PER_MSEC;

	return poll_user(fds, count, wait_deadline(ns));
}

s64 sys_ppoll(void *fds, u32 count, void *timeout, const u64 *sigmask, size_t set_size)
{
	u64 deadline;

	TRY(begin_wait(timeout, sigmask, set_size, &deadline));
	return end_wait(poll_user(fds, count, deadline), timeout, deadline);
}

/* ---- select ---------------------------------------------------------------------------------- */

static s64 do_select(int count, u64 *read, u64 *write, u64 *except, u64 deadline)
{
	/* What the three sets ask for. */
	static const unsigned asked[3] = {POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR,
					  POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR, POLLPRI};
	u64 *const user[3] = {read, write, except};
	u64 sets[3][SELECT_MAX / 64] = {{0}};

	if (count < 0)
		return -EINVAL;
	count = min(count, SELECT_MAX);
	size_t bytes = DIV_ROUND_UP((size_t)count, 64) * sizeof(u64);
	for (unsigned i = 0; i < 3; i++)
		TRY(read_user_if_given(sets[i], user[i], bytes));
	struct poll_item *items __free(kfree) =
		TRY_PTR(kzalloc((size_t)count * sizeof(*items), GFP_KERNEL));
	u32 used = 0;
	for (int fd = 0; fd < count; fd++) {
		struct poll_item *item = &items[used];

		for (unsigned i = 0; i < 3; i++)
			if (sets[i][fd / 64] >> fd % 64 & 1) {
				item->fd.events |= 1 << i;
				item->asked |= asked[i];
			}
		if (item->asked)
			items[used++].fd.fd = fd;
	}
	TRY(wait_for_items(items, used, deadline));
	memset(sets, 0, sizeof(sets));
	s64 found = 0;
	for (const struct poll_item *item = items; item < items + used; item++) {
		const struct pollfd *fd = &item->fd;

		if (fd->revents & POLLNVAL)
			return -EBADF;
		for (unsigned i = 0; i < 3; i++)
			if (fd->events & 1 << i && fd->revents & asked[i]) {
				sets[i][fd->fd / 64] |= 1ULL << fd->fd % 64;
				found++;
			}
	}
	for (unsigned i = 0; i < 3; i++)
		TRY(write_user_if_given(user[i], sets[i], bytes));
	return found;
}

s64 sys_select(int count, u64 *read, u64 *write, u64 *except, void *timeout)
{
	struct timeval64 time;
	u64 ns = FOR_EVER;

	if (timeout) {
		TRY(read_user(&time, timeout, sizeof(time)));
		if (time.tv_sec < 0 || time.tv_usec < 0)
			return -EINVAL;
		ns = min((u64)time.tv_sec, 1ULL << 32) * NSEC_PER_SEC +
		     min((u64)time.tv_usec, 1ULL << 42) * 1000;
	}

	u64 deadline = wait_deadline(ns);
	s64 result = do_select(count, read, write, except, deadline);

	if (timeout) {
		time = ns_to_timeval(time_left(deadline));
		(void)!copy_to_user(timeout, &time, sizeof(time)); /* the sets are what counts */
	}
	return result;
}

s64 sys_pselect6(int count, u64 *read, u64 *write, u64 *except, void *timeout, const u64 *argument)
{
	u64 deadline, mask[2] = {0};

	TRY(read_user_if_given(mask, argument, sizeof(mask)));
	TRY(begin_wait(timeout, (const u64 *)mask[0], mask[1], &deadline));
	return end_wait(do_select(count, read, write, except, deadline), timeout, deadline);
}
