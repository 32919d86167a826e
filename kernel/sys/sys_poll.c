/*
 * sys_poll.c - poll and select. fs/poll.c does the waiting; select's bit sets become a poll array
 * and back.
 */
#include "fs/poll.h"
#include "fs/vfs.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"
#include "kernel/sys/user_types.h"
#include "mm/slab.h"

#define SELECT_MAX 4096 /* descriptors; select(2) itself is for 1024 */

/* Block @user_mask while waiting; the way to user mode restores the old mask after a signal's
 * handler. */
static s64 enter_mask(const u64 *user_mask, size_t set_size)
{
	struct signal_state *signals = current->signals;
	u64 mask;

	if (!user_mask)
		return 0;
	if (set_size != sizeof(u64))
		return -EINVAL;
	if (get_user(mask, user_mask))
		return -EFAULT;
	signals->saved_blocked = signals->blocked;
	signals->restore_blocked = true;
	signal_set_blocked(mask);
	return 0;
}

static void leave_mask(s64 result)
{
	struct signal_state *signals = current->signals;

	if (!signals->restore_blocked || result == -ERESTARTNOHAND)
		return; /* the signal is still to be delivered, under the temporary mask */
	signals->restore_blocked = false;
	signal_set_blocked(signals->saved_blocked);
}

/* Poll until @restart->deadline_ns; arguments: the descriptors and their number. */
static s64 poll_restart(struct restart *restart)
{
	u64 now, deadline = restart->deadline_ns;
	s64 ns = -1, result;

	if (deadline != ~0ULL) {
		now = ktime_ns();
		ns = deadline > now ? (s64)(deadline - now) : 0;
	}
	result = vfs_poll((void *)restart->arguments[0], (u32)restart->arguments[1], ns);
	restart->function = poll_restart;
	return result == -EINTR ? -ERESTART_RESTARTBLOCK : result;
}

s64 sys_poll(void *fds, u32 count, int timeout_ms)
{
	struct restart *restart = &current->signals->restart;

	if (count > process_limit(RLIMIT_NOFILE))
		return -EINVAL;
	if (!timeout_ms)
		return vfs_poll(fds, count, 0);
	restart->deadline_ns =
		timeout_ms < 0 ? ~0ULL : ktime_ns() + (u64)timeout_ms * NSEC_PER_MSEC;
	restart->arguments[0] = (u64)fds;
	restart->arguments[1] = count;
	return poll_restart(restart);
}

/* A timeout in nanoseconds as vfs_poll() takes it; NULL: for ever. */
static s64 read_timeout(const void *timeout, s64 *ns)
{
	u64 value;
	s64 error;

	*ns = -1;
	if (!timeout)
		return 0;
	error = get_timespec(timeout, &value);
	*ns = (s64)min(value, (u64)1 << 62);
	return error;
}

/* ppoll and pselect6 write back what is left; a fault there is not reported, as in Linux. */
static void write_time_left(void *timeout, s64 ns, u64 start)
{
	u64 spent = ktime_ns() - start;

	if (timeout && ns >= 0)
		(void)put_timespec(timeout, spent < (u64)ns ? (u64)ns - spent : 0);
}

s64 sys_ppoll(void *fds, u32 count, void *timeout, const u64 *sigmask, size_t set_size)
{
	u64 start = ktime_ns();
	s64 ns, result = read_timeout(timeout, &ns);

	if (result)
		return result;
	if (count > process_limit(RLIMIT_NOFILE))
		return -EINVAL;
	result = enter_mask(sigmask, set_size);
	if (result)
		return result;
	result = vfs_poll(fds, count, ns);
	if (result == -EINTR)
		result = -ERESTARTNOHAND;
	leave_mask(result);
	write_time_left(timeout, ns, start);
	return result;
}

/* ---- select ---------------------------------------------------------------------------------- */

#define SELECT_READ (POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR)
#define SELECT_WRITE (POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR)
#define SELECT_EXCEPT POLLPRI

struct selection {
	int count;	/* descriptors 0 .. count-1 */
	size_t bytes;	/* of one bit set */
	u64 *sets;	/* the three, one after the other */
	struct pollfd *fds;
	u32 used;
};

static bool is_in(const struct selection *selection, int which, int fd)
{
	return selection->sets[(size_t)which * selection->bytes / 8 + (size_t)fd / 64] >>
		       (fd % 64) &
	       1;
}

static void build_fds(struct selection *selection)
{
	for (int fd = 0; fd < selection->count; fd++) {
		unsigned events = (is_in(selection, 0, fd) ? POLLIN | POLLRDNORM | POLLRDBAND : 0) |
				  (is_in(selection, 1, fd) ? POLLOUT | POLLWRNORM : 0) |
				  (is_in(selection, 2, fd) ? POLLPRI : 0);

		if (events || is_in(selection, 2, fd))
			selection->fds[selection->used++] =
				(struct pollfd){.fd = fd, .events = (s16)events};
	}
}

/* Turn what poll found into bit sets; how many bits, or -EBADF. */
static s64 collect(struct selection *selection)
{
	static const unsigned kinds[3] = {SELECT_READ, SELECT_WRITE, SELECT_EXCEPT};
	size_t words = selection->bytes / 8;
	s64 found = 0;
	u64 *result = selection->sets + 3 * words;

	memset(result, 0, 3 * selection->bytes);
	for (u32 i = 0; i < selection->used; i++) {
		const struct pollfd *fd = &selection->fds[i];

		if (fd->revents & POLLNVAL)
			return -EBADF;
		for (int which = 0; which < 3; which++) {
			if (!is_in(selection, which, fd->fd) ||
			    !((unsigned)fd->revents & kinds[which]))
				continue;
			result[(size_t)which * words + (size_t)fd->fd / 64] |= 1ULL
									       << (fd->fd % 64);
			found++;
		}
	}
	memcpy(selection->sets, result, 3 * selection->bytes);
	return found;
}

static s64 select_sets(struct selection *selection, u64 *user[3], s64 ns)
{
	s64 result;

	for (int which = 0; which < 3; which++) {
		u64 *set = selection->sets + (size_t)which * selection->bytes / 8;

		if (!user[which])
			memset(set, 0, selection->bytes);
		else if (copy_from_user(set, user[which], selection->bytes))
			return -EFAULT;
	}
	build_fds(selection);
	result = poll_descriptors(selection->fds, selection->used, ns);
	if (result < 0)
		return result;
	result = collect(selection);
	if (result < 0)
		return result;
	for (int which = 0; which < 3; which++) {
		if (user[which] &&
		    copy_to_user(user[which],
				 selection->sets + (size_t)which * selection->bytes / 8,
				 selection->bytes))
			return -EFAULT;
	}
	return result;
}

static s64 do_select(int count, u64 *read, u64 *write, u64 *except, s64 ns)
{
	struct selection selection = {.count = min(count, SELECT_MAX)};
	u64 *user[3] = {read, write, except};
	s64 result = -ENOMEM;

	if (count < 0)
		return -EINVAL;
	selection.bytes = (size_t)DIV_ROUND_UP(selection.count, 64) * 8;
	selection.sets = kmalloc(6 * selection.bytes + 8, GFP_KERNEL);
	selection.fds = kmalloc((size_t)selection.count * sizeof(struct pollfd) + 8, GFP_KERNEL);
	if (selection.sets && selection.fds)
		result = select_sets(&selection, user, ns);
	kfree(selection.sets);
	kfree(selection.fds);
	return result == -EINTR ? -ERESTARTNOHAND : result;
}

s64 sys_select(int count, u64 *read, u64 *write, u64 *except, void *timeout)
{
	struct timeval64 time;
	u64 start = ktime_ns(), spent;
	s64 ns = -1, result;

	if (timeout) {
		if (copy_from_user(&time, timeout, sizeof(time)))
			return -EFAULT;
		if (time.tv_sec < 0 || time.tv_usec < 0)
			return -EINVAL;
		ns = (s64)(min((u64)time.tv_sec, 1ULL << 32) * NSEC_PER_SEC +
			   min((u64)time.tv_usec, 1ULL << 42) * 1000);
	}
	result = do_select(count, read, write, except, ns);
	if (timeout && result != -ERESTARTNOHAND) {
		spent = ktime_ns() - start;
		time = ns_to_timeval(spent < (u64)ns ? (u64)ns - spent : 0);
		if (copy_to_user(timeout, &time, sizeof(time)))
			return result; /* as Linux: the sets are what counts */
	}
	return result;
}

s64 sys_pselect6(int count, u64 *read, u64 *write, u64 *except, void *timeout, const u64 *argument)
{
	u64 start = ktime_ns(), mask[2] = {0};
	s64 ns, result = read_timeout(timeout, &ns);

	if (!result && argument && copy_from_user(mask, argument, sizeof(mask)))
		result = -EFAULT;
	if (!result)
		result = enter_mask((const u64 *)mask[0], mask[1]);
	if (result)
		return result;
	result = do_select(count, read, write, except, ns);
	leave_mask(result);
	write_time_left(timeout, ns, start);
	return result;
}
