/*
 * sys_signal.c - system calls about signals.
 */
#include <arch/signal.h>

#include "fs/vfs.h"
#include "kernel/core/sched.h"
#include "kernel/core/time.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"
#include "kernel/sys/user_types.h"

s64 sys_rt_sigaction(int signo, const void *user_new, void *user_old, size_t set_size)
{
	struct signal_action new = {0}, old;
	s64 error;

	if (set_size != sizeof(u64))
		return -EINVAL;
	if (user_new && copy_from_user(&new, user_new, sizeof(new)))
		return -EFAULT;
	new.mask &= ~SIGNALS_UNBLOCKABLE;
	error = signal_set_action(signo, user_new ? &new : NULL, &old);
	if (!error && user_old && copy_to_user(user_old, &old, sizeof(old)))
		error = -EFAULT;
	return error;
}

s64 sys_rt_sigprocmask(int how, const u64 *user_set, u64 *user_old, size_t set_size)
{
	u64 old = current->signals->blocked, set;

	if (set_size != sizeof(u64))
		return -EINVAL;
	if (user_set) {
		if (get_user(set, user_set))
			return -EFAULT;
		if (how == SIG_BLOCK)
			set |= old;
		else if (how == SIG_UNBLOCK)
			set = old & ~set;
		else if (how != SIG_SETMASK)
			return -EINVAL;
		if ((set & ~SIGNALS_UNBLOCKABLE) != old)
			signal_set_blocked(set);
	}
	return user_old && put_user(old, user_old) ? -EFAULT : 0;
}

s64 sys_rt_sigreturn(void)
{
	u64 blocked;

	if (arch_pop_signal_frame(current_registers(), &blocked))
		force_signal(SIGSEGV, SI_KERNEL, 0);
	else
		signal_set_blocked(blocked);
	arch_return_to_user();
}

s64 sys_rt_sigpending(u64 *set, size_t set_size)
{
	u64 pending;

	if (set_size > sizeof(u64))
		return -EINVAL;
	pending = (current->signals->pending.set | current->process->pending.set) &
		  current->signals->blocked;
	return copy_to_user(set, &pending, set_size) ? -EFAULT : 0;
}

/* Wait with another mask; the way to user mode puts the old one back, after a handler if one is to
 * run. */
s64 sys_rt_sigsuspend(const u64 *user_set, size_t set_size)
{
	struct signal_state *signals = current->signals;
	u64 set;

	if (set_size != sizeof(u64))
		return -EINVAL;
	if (get_user(set, user_set))
		return -EFAULT;
	signals->saved_blocked = signals->blocked;
	signals->restore_blocked = true;
	signal_set_blocked(set);
	return sys_pause();
}

s64 sys_pause(void)
{
	while (!signal_pending(current)) {
		set_current_state(TASK_INTERRUPTIBLE);
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return -ERESTARTNOHAND;
}

static int take_awaited(u64 set, struct siginfo *info)
{
	unsigned long flags;
	int signo;

	spin_lock_irqsave(&process_lock, flags);
	signo = signal_dequeue(~set, info);
	signal_recalculate();
	spin_unlock_irqrestore(&process_lock, flags);
	return signo;
}

static s64 put_siginfo(void *to, const struct siginfo *info)
{
	if (!to)
		return 0;
	if (copy_to_user(to, info, sizeof(*info)) ||
	    clear_user((u8 *)to + sizeof(*info), SIGINFO_USER_SIZE - sizeof(*info)))
		return -EFAULT;
	return 0;
}

s64 sys_rt_sigtimedwait(const u64 *user_set, void *user_info, const void *timeout, size_t set_size)
{
	struct signal_state *signals = current->signals;
	u64 set, ns = ~0ULL, blocked = signals->blocked;
	struct siginfo info;
	int signo;
	s64 error;

	if (set_size != sizeof(u64))
		return -EINVAL;
	if (get_user(set, user_set))
		return -EFAULT;
	error = timeout ? get_timespec(timeout, &ns) : 0;
	if (error)
		return error;
	set &= ~SIGNALS_UNBLOCKABLE;
	signo = take_awaited(set, &info);
	if (!signo && ns) {
		/* Unblocked while we sleep, so that sending one wakes us. */
		set_current_state(TASK_INTERRUPTIBLE);
		signals->awaited = set & blocked;
		signal_set_blocked(blocked & ~set);
		ns = schedule_timeout_ns(ns);
		__set_current_state(TASK_RUNNING);
		signo = take_awaited(set, &info);
		signals->awaited = 0;
		signal_set_blocked(blocked);
	}
	if (!signo)
		return ns ? -EINTR : -EAGAIN;
	error = put_siginfo(user_info, &info);
	return error ? error : signo;
}

static struct siginfo sender_info(int signo, int code)
{
	return (struct siginfo){.signo = signo,
				.code = code,
				.pid = current->process->pid,
				.uid = current->cred->uid};
}

s64 sys_kill(int pid, int signo)
{
	struct siginfo info = sender_info(signo, SI_USER);

	return signal_kill(pid, signo, &info);
}

s64 sys_tgkill(int pid, int thread, int signo)
{
	struct siginfo info = sender_info(signo, SI_TKILL);

	return pid <= 0 ? -EINVAL : signal_kill_thread(pid, thread, signo, &info);
}

s64 sys_tkill(int thread, int signo)
{
	struct siginfo info = sender_info(signo, SI_TKILL);

	return signal_kill_thread(-1, thread, signo, &info);
}

s64 sys_rt_sigqueueinfo(int pid, int signo, const void *user_info)
{
	struct siginfo info;

	if (copy_from_user(&info, user_info, sizeof(info)))
		return -EFAULT;
	/* Nobody may pretend to be the kernel or kill(), but to itself. */
	if ((info.code >= 0 || info.code == SI_TKILL) && pid != current->process->pid)
		return -EPERM;
	info.signo = signo;
	return pid <= 0 ? -EINVAL : signal_kill(pid, signo, &info);
}

s64 sys_sigaltstack(const void *user_new, void *user_old)
{
	struct signal_stack *stack = &current->signals->stack, new, old = *stack;
	u64 sp = arch_user_sp(current_registers());
	bool on_it = !(old.flags & SS_DISABLE) && sp > old.sp && sp - old.sp <= old.size;

	if (user_new && copy_from_user(&new, user_new, sizeof(new)))
		return -EFAULT;
	if (on_it)
		old.flags |= SS_ONSTACK;
	old.pad = 0;
	if (user_new) {
		if (on_it)
			return -EPERM;
		if ((u32)new.flags & ~(SS_AUTODISARM | SS_DISABLE | SS_ONSTACK))
			return -EINVAL;
		if (new.flags & SS_DISABLE)
			new.sp = new.size = 0;
		else if (new.size < MINSIGSTKSZ)
			return -ENOMEM;
		new.flags &= ~SS_ONSTACK;
		*stack = new;
	}
	return user_old && copy_to_user(user_old, &old, sizeof(old)) ? -EFAULT : 0;
}

s64 sys_restart_syscall(void)
{
	struct restart *restart = &current->signals->restart;

	return restart->function ? restart->function(restart) : -EINTR;
}
