/*
 * signal_calls.c - the calls about signals: actions and masks, waiting, sending. See signal.h.
 */
#include "kernel/proc/signal.h"

#include <arch/signal.h>

#include "kernel/proc/process.h"

/* ---- calls: actions and masks ---------------------------------------------------------------- */

s64 sys_rt_sigaction(int signo, const void *user_new, void *user_old, size_t set_size)
{
	struct process *process = current->process;
	struct signal_action new = {0}, old = {0};

	if (set_size != sizeof(u64))
		return -EINVAL;
	TRY(read_user_if_given(&new, user_new, sizeof(new)));
	if (signo < 1 || signo > SIGNAL_COUNT ||
	    (user_new && (SIGNALS_UNBLOCKABLE & sigmask(signo))))
		return -EINVAL;
	spin_lock_irq(&process_lock);
	if (process->handled & sigmask(signo))
		old = process->actions[signo - 1];
	if (user_new) {
		new.mask &= ~SIGNALS_UNBLOCKABLE;
		process->actions[signo - 1] = new;
		process->handled |= sigmask(signo);
		if (new.handler == SIG_IGN ||
		    (new.handler == SIG_DFL && (SIGNALS_IGNORED & sigmask(signo)))) {
			signal_drop(process, sigmask(signo));
			signal_recalculate();
		}
	}
	spin_unlock_irq(&process_lock);
	return write_user_if_given(user_old, &old, sizeof(old));
}

int get_signal_set(const u64 *from, size_t size, u64 *set)
{
	if (size != sizeof(u64))
		return -EINVAL;
	return get_user(*set, from);
}

s64 sys_rt_sigprocmask(int how, const u64 *user_set, u64 *user_old, size_t set_size)
{
	u64 old = current->signals->blocked, set;

	if (set_size != sizeof(u64))
		return -EINVAL;
	if (user_set) {
		TRY(get_user(set, user_set));
		if (how == SIG_BLOCK)
			set |= old;
		else if (how == SIG_UNBLOCK)
			set = old & ~set;
		else if (how != SIG_SETMASK)
			return -EINVAL;
		if ((set & ~SIGNALS_UNBLOCKABLE) != old)
			signal_set_blocked(set);
	}
	return user_old ? put_user(old, user_old) : 0;
}

s64 sys_rt_sigreturn(void)
{
	u64 blocked;

	if (arch_pop_signal_frame(current_registers(), &blocked, &current->signals->stack))
		force_signal(SIGSEGV, SI_KERNEL, 0);
	else
		signal_set_blocked(blocked);
	arch_return_to_user();
}

s64 sys_sigaltstack(const void *user_new, void *user_old)
{
	struct signal_stack *stack = &current->signals->stack, new, old = *stack;
	bool on_it = on_signal_stack(stack, current_registers()->sp);

	if (on_it)
		old.flags |= SS_ONSTACK;
	if (user_new) {
		TRY(read_user(&new, user_new, sizeof(new)));
		if (on_it)
			return -EPERM;
		if ((u32)new.flags >= (SS_DISABLE | SS_ONSTACK)) /* one of them, or none */
			return -EINVAL;
		if (new.flags & SS_DISABLE)
			new.sp = new.size = 0;
		else if (new.size < MINSIGSTKSZ)
			return -ENOMEM;
		new.flags &= ~SS_ONSTACK;
		*stack = new;
	}
	return write_user_if_given(user_old, &old, sizeof(old));
}

/* ---- calls: waiting -------------------------------------------------------------------------- */

s64 sys_pause(void)
{
	while (!signal_pending(current)) {
		set_current_state(TASK_INTERRUPTIBLE);
		schedule();
	}
	return -ERESTARTNOHAND;
}

/* Wait with another mask; the way to user mode puts the old one back, after a handler if one is to
 * run. */
s64 sys_rt_sigsuspend(const u64 *user_set, size_t set_size)
{
	u64 set;

	TRY(get_signal_set(user_set, set_size, &set));
	signal_set_temporarily(set);
	return sys_pause();
}

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

/* ---- calls: sending -------------------------------------------------------------------------- */

/* Same user, or root, or SIGCONT within the session. @signo 0: only ask. */
static int send_checked(struct process *process, struct task *thread, int signo)
{
	const struct cred *mine = current->cred, *theirs = process_cred(process);
	const struct siginfo info = {.code = thread ? SI_TKILL : SI_USER,
				     .pid = current->process->pid,
				     .uid = mine->uid};

	if (signo < 0 || signo > SIGNAL_COUNT)
		return -EINVAL;
	if (process != current->process && !capable(mine) && mine->euid != theirs->uid &&
	    mine->euid != theirs->suid && mine->uid != theirs->uid && mine->uid != theirs->suid &&
	    !(signo == SIGCONT && process->session == current->process->session))
		return -EPERM;
	if (signo)
		signal_send_locked(process, thread, signo, &info);
	return 0;
}

s64 sys_kill(int pid, int signo)
{
	struct process *process;
	int result = -ESRCH;

	guard(spinlock_irq, &process_lock);
	const struct process *one = pid > 0 ? process_find_or_self(pid) : NULL;
	if (one)
		pid = one->pid;
	list_for_each_entry(process, &process_list, all_link) {
		if (!process_is_meant(process, pid) ||
		    (pid == -1 && (process == init_process || process == current->process)))
			continue;

		int error = send_checked(process, NULL, signo);

		/* One success is success; -EPERM only if nobody could be, and not of -1. */
		if (error == -EPERM && pid == -1)
			error = 0;
		if (!error || result == -ESRCH)
			result = error;
	}
	return result;
}

/* To thread @thread of process @pid; 0: of any. */
static s64 send_thread(pid_t pid, pid_t thread, int signo)
{
	if (thread <= 0)
		return -EINVAL;
	guard(spinlock_irq, &process_lock);

	struct task *task = task_find(thread);

	if (!task || (pid && task->process->pid != pid))
		return -ESRCH;
	return send_checked(task->process, task, signo);
}

s64 sys_tgkill(int pid, int thread, int signo)
{
	if (pid <= 0)
		return -EINVAL;
	return send_thread(pid, thread, signo);
}

s64 sys_tkill(int thread, int signo)
{
	return send_thread(0, thread, signo);
}

