/*
 * calls.c - the calls that wait for an epoll's events; the rest of it is in epoll.c.
 *
 * A signal ends them with EINTR, whatever its handler's flags say. epoll_pwait's mask holds until
 * then; if a signal ended the wait, the way to user mode delivers it under that mask, and puts the
 * old one back.
 */
#include "kernel/events/events.h"
#include "kernel/proc/process.h"

static s64 wait_for_events(int number, struct epoll_event *events, int count, u64 deadline)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));

	return epoll_wait_events(fd.file, events, count, deadline);
}

static s64 wait_masked(int number, struct epoll_event *events, int count, u64 deadline,
		       const u64 *user_mask, size_t set_size)
{
	u64 mask;

	if (!user_mask)
		return wait_for_events(number, events, count, deadline);
	TRY(get_signal_set(user_mask, set_size, &mask));
	signal_set_temporarily(mask);
	s64 result = wait_for_events(number, events, count, deadline);
	if (result != -EINTR)
		signal_set_blocked(current->signals->saved_blocked);
	return result;
}

static u64 milliseconds_deadline(int timeout_ms)
{
	return wait_deadline(timeout_ms < 0 ? ~0ULL : (u64)timeout_ms * NSEC_PER_MSEC);
}

s64 sys_epoll_wait(int fd, void *events, int count, int timeout_ms)
{
	return wait_for_events(fd, events, count, milliseconds_deadline(timeout_ms));
}

s64 sys_epoll_pwait(int fd, void *events, int count, int timeout_ms, const u64 *sigmask,
		    size_t set_size)
{
	return wait_masked(fd, events, count, milliseconds_deadline(timeout_ms), sigmask, set_size);
}

s64 sys_epoll_pwait2(int fd, void *events, int count, const void *timeout, const u64 *sigmask,
		     size_t set_size)
{
	u64 deadline;

	TRY(get_deadline(timeout, &deadline));
	return wait_masked(fd, events, count, deadline, sigmask, set_size);
}
