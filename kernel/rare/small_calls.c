/*
 * small_calls.c - calls of a few lines: clock_settime(2), clock_getres(2), get_robust_list(2),
 * rt_sigpending(2), getrlimit(2), setrlimit(2), close_range(2), faccessat(2), preadv2(2),
 * pwritev2(2).
 */
#include "fs/calls/calls.h"
#include "kernel/proc/process.h"

s64 sys_clock_settime(int clock, const void *time)
{
	u64 ns;

	if (clock != CLOCK_REALTIME)
		return -EINVAL;
	TRY(get_timespec(time, &ns));
	if (!capable(current->cred))
		return -EPERM;
	if ((s64)ns < 0 || ns < ktime_ns()) /* 1970 is not later than the start */
		return -EINVAL;
	realtime_set(ns);
	return 0;
}

s64 sys_clock_getres(int clock, void *resolution)
{
	u64 ns = clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE ? TICK_NS : 1;

	TRY(read_clock(clock));
	return resolution ? put_timespec(resolution, ns) : 0;
}

/* Of the thread itself: musl asks, to learn whether there are robust lists. */
#define ROBUST_LIST_HEAD_SIZE 24 /* three words: futex.c */

s64 sys_get_robust_list(int pid, u64 *head, size_t *size)
{
	if (pid && pid != current->pid)
		return -EPERM;
	TRY(put_user(ROBUST_LIST_HEAD_SIZE, size));
	return put_user(current->robust_list, head);
}

s64 sys_rt_sigpending(u64 *set, size_t set_size)
{
	if (set_size > sizeof(u64))
		return -EINVAL;

	const struct signal_state *own = current->signals;
	u64 pending = (current->process->pending | own->pending) & own->blocked;

	return write_user(set, &pending, set_size);
}

/* ---- limits, as old libraries ask ------------------------------------------------------------ */

s64 sys_getrlimit(u32 kind, void *limit)
{
	if (!limit && kind < RLIMIT_COUNT)
		return -EFAULT;
	return sys_prlimit64(0, kind, NULL, limit);
}

s64 sys_setrlimit(u32 kind, const void *limit)
{
	if (!limit)
		return -EFAULT;
	return sys_prlimit64(0, kind, limit, NULL);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* Current has a table of its own from now on: 0 or -ENOMEM. */
static int unshare_table(void)
{
	struct file_table *own = TRY_PTR(file_table_fork(current->files)), *shared = current->files;

	spin_lock_irq(&process_lock);
	current->files = own;
	spin_unlock_irq(&process_lock);
	file_table_put(shared);
	return 0;
}

/* Has current a table that nobody shares, and something in it? Of such a one files are got without
 * a count (fdget()). */
static bool has_own_table(void)
{
	struct fd first __free(fd) = fdget_raw(file_table_next(current->files, 0));

	return first.file && !first.counted;
}

s64 sys_close_range(u32 first, u32 last, u32 flags)
{
	enum { CLOSE_RANGE_UNSHARE = 2, CLOSE_RANGE_CLOEXEC = 4 };
	int fd = (int)min(first, (u32)FILE_TABLE_MAX);

	if (first > last || (flags & ~(u32)(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)))
		return -EINVAL;
	if ((flags & CLOSE_RANGE_UNSHARE) && !has_own_table()) /* else its locks would go, too */
		TRY(unshare_table());
	for (; (fd = file_table_next(current->files, fd)) >= 0 && (u32)fd <= last; fd++)
		if (flags & CLOSE_RANGE_CLOEXEC)
			fd_set_flags(fd, FD_CLOEXEC);
		else
			fd_close(fd);
	return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

s64 sys_faccessat(int dfd, const char *name, int mode)
{
	return sys_faccessat2(dfd, name, mode, 0);
}

/* preadv2 and pwritev2: no flag is known; an @offset of -1 is the file's own position. */
static s64 transfer_flagged(int fd, const void *vector, u64 count, loff_t offset, u32 flags,
			    u32 mode)
{
	if (flags)
		return -EOPNOTSUPP;
	return transfer_vector(fd, vector, count, offset == -1 ? NULL : &offset, mode);
}

s64 sys_preadv2(int fd, const void *vector, u64 count, loff_t offset, loff_t unused, u32 flags)
{
	return transfer_flagged(fd, vector, count, offset, flags, FMODE_READ);
}

s64 sys_pwritev2(int fd, const void *vector, u64 count, loff_t offset, loff_t unused, u32 flags)
{
	return transfer_flagged(fd, vector, count, offset, flags, FMODE_WRITE);
}
