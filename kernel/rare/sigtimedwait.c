/*
 * sigtimedwait.c - rt_sigtimedwait(2), of sigwait(3): a signal is taken, and no handler runs.
 */
#include "kernel/proc/process.h"

s64 sys_rt_sigtimedwait(const u64 *user_set, void *user_info, const void *timeout, size_t set_size)
{
	struct signal_state *signals = current->signals;
	u8 whole[SIGINFO_USER_SIZE] = {0};
	struct siginfo info;
	u64 set, deadline;

	TRY(get_signal_set(user_set, set_size, &set));
	TRY(get_deadline(timeout, &deadline));
	set &= ~SIGNALS_UNBLOCKABLE;
	set_current_state(TASK_INTERRUPTIBLE);
	/* Unblocked while we sleep, so that sending one wakes us, and one that is there ends it. */
	signal_set_temporarily(signals->blocked & ~set);

	bool in_time = schedule_until(deadline);

	__set_current_state(TASK_RUNNING);
	spin_lock_irq(&process_lock);

	int signo = signal_dequeue(~set, &info);

	spin_unlock_irq(&process_lock);
	signal_set_blocked(signals->saved_blocked);
	if (!signo)
		return in_time ? -EINTR : -EAGAIN;
	memcpy(whole, &info, sizeof(info));
	TRY(write_user_if_given(user_info, whole, sizeof(whole)));
	return signo;
}
