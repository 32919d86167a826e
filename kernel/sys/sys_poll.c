/*
 * sys_poll.c - poll and select. fs/poll.c does the waiting; select's bit sets become a poll array
 * and back. Time-outs are points in time: ~0 for ever, 0 not at all.
 */
#include "fs/poll.h"
#include "fs/vfs.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"
#include "kernel/core/user_time.h"

#define SELECT_MAX 4096 /* descriptors; select(2) itself is for 1024 */
#define FOR_EVER (~0ULL)

/* Block @user_mask while waiting; the way to user mode restores the old mask after a signal's
 * handler. */
static int enter_mask(const u64 *user_mask, size_t set_size)
{
	u64 mask;

	if (!user_mask)
		return 0;
	TRY(get_signal_set(user_mask, set_size, &mask));
	signal_set_temporarily(mask);
	return 0;
}

static void leave_mask(s64 result)
{
	struct signal_state *signals = current->signals;

	if (!signals->restore_blocked || result == -ERESTART_RESTARTBLOCK)
		return; /* the signal is still to be delivered, under the temporary mask */
	signals->restore_blocked = false;
	signal_set_blocked(signals->saved_blocked);
}

/* ppoll and pselect6 write back what is left; a fault there is not reported, as in Linux. */
static void write_time_left(void *timeout, u64 deadline)
{
	if (timeout)
		(void)put_timespec(timeout, time_left(deadline));
}

/* ---- poll ------------------------------------------------------------------------------------ */

static s64 poll_user(struct pollfd *user_fds, u32 count, u64 deadline)
{
	struct pollfd few[8], *fds = few;
	s64 result;

	if (count > process_limit(RLIMIT_NOFILE))
		return -EINVAL;
	if (count > ARRAY_SIZE(few))
		fds = kmalloc(count * sizeof(*fds), GFP_KERNEL);
	if (!fds)
		return -ENOMEM;
	result = -EFAULT;
	if (!copy_from_user(fds, user_fds, count * sizeof(*fds)))
		result = poll_descriptors(fds, count, deadline);
	for (u32 i = 0; result >= 0 && i < count; i++)
		if (put_user(fds[i].revents, &user_fds[i].revents))
			result = -EFAULT;
	if (fds != few)
		kfree(fds);
	return result == -EINTR ? -ERESTART_RESTARTBLOCK : result;
}

s64 sys_poll(void *fds, u32 count, int timeout_ms)
{
	u64 ns = timeout_ms < 0 ? FOR_EVER : (u64)timeout_ms * NSEC_PER_MSEC;

	return poll_user(fds, count, wait_deadline(ns));
}

s64 sys_ppoll(void *fds, u32 count, void *timeout, const u64 *sigmask, size_t set_size)
{
	u64 deadline;

	TRY(get_deadline(timeout, &deadline));
	TRY(enter_mask(sigmask, set_size));

	s64 result = poll_user(fds, count, deadline);

	leave_mask(result);
	write_time_left(timeout, deadline);
	return result;
}

/* ---- select ---------------------------------------------------------------------------------- */

/* What the three sets ask for, and what sets a bit in them again. */
static const unsigned asked[3] = {POLLIN | POLLRDNORM | POLLRDBAND,
				  POLLOUT | POLLWRNORM | POLLWRBAND, POLLPRI};
static const unsigned answers[3] = {POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR,
				    POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR, POLLPRI};

/* Poll what the three @sets of @words words ask for, in @fds, and turn them into the answer. */
static s64 select_sets(int count, u64 *sets, size_t words, struct pollfd *fds, u64 deadline)
{
	s64 found = 0, result;
	u32 used = 0;

	for (int fd = 0; fd < count; fd++) {
		unsigned events = 0;

		for (size_t which = 0; which < 3; which++)
			if (sets[which * words + fd / 64] >> fd % 64 & 1)
				events |= asked[which];
		if (events)
			fds[used++] = (struct pollfd){.fd = fd, .events = (s16)events};
	}
	result = poll_descriptors(fds, used, deadline);
	if (result < 0)
		return result;
	memset(sets, 0, 3 * words * sizeof(u64));
	for (const struct pollfd *fd = fds; fd < fds + used; fd++) {
		if (fd->revents & POLLNVAL)
			return -EBADF;
		for (size_t which = 0; which < 3; which++)
			if (fd->events & asked[which] && fd->revents & answers[which]) {
				sets[which * words + fd->fd / 64] |= 1ULL << fd->fd % 64;
				found++;
			}
	}
	return found;
}

static s64 do_select(int count, u64 *read, u64 *write, u64 *except, u64 deadline)
{
	u64 *user[3] = {read, write, except}, *sets;
	size_t words, bytes;
	s64 result = 0;

	if (count < 0)
		return -EINVAL;
	count = min(count, SELECT_MAX);
	words = DIV_ROUND_UP((size_t)count, 64);
	bytes = words * sizeof(u64);
	sets = kzalloc(3 * bytes + (size_t)count * sizeof(struct pollfd), GFP_KERNEL);
	if (!sets)
		return -ENOMEM;
	for (size_t i = 0; i < 3; i++)
		if (user[i] && copy_from_user(sets + i * words, user[i], bytes))
			result = -EFAULT;
	if (!result)
		result = select_sets(count, sets, words, (struct pollfd *)(sets + 3 * words),
				     deadline);
	for (size_t i = 0; i < 3; i++)
		if (result >= 0 && user[i] && copy_to_user(user[i], sets + i * words, bytes))
			result = -EFAULT;
	kfree(sets);
	return result == -EINTR ? -ERESTART_RESTARTBLOCK : result;
}

s64 sys_select(int count, u64 *read, u64 *write, u64 *except, void *timeout)
{
	struct timeval64 time;
	u64 ns = FOR_EVER;

	if (timeout) {
		if (copy_from_user(&time, timeout, sizeof(time)))
			return -EFAULT;
		if (time.tv_sec < 0 || time.tv_usec < 0)
			return -EINVAL;
		ns = min((u64)time.tv_sec, 1ULL << 32) * NSEC_PER_SEC +
		     min((u64)time.tv_usec, 1ULL << 42) * 1000;
	}

	u64 deadline = wait_deadline(ns);
	s64 result = do_select(count, read, write, except, deadline);

	if (timeout && result != -ERESTART_RESTARTBLOCK) {
		time = ns_to_timeval(time_left(deadline));
		(void)!copy_to_user(timeout, &time, sizeof(time)); /* the sets are what counts */
	}
	return result;
}

s64 sys_pselect6(int count, u64 *read, u64 *write, u64 *except, void *timeout, const u64 *argument)
{
	u64 deadline, mask[2] = {0};

	TRY(get_deadline(timeout, &deadline));
	if (argument && copy_from_user(mask, argument, sizeof(mask)))
		return -EFAULT;
	TRY(enter_mask((const u64 *)mask[0], mask[1]));

	s64 result = do_select(count, read, write, except, deadline);

	leave_mask(result);
	write_time_left(timeout, deadline);
	return result;
}
