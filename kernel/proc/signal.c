/*
 * signal.c - signals: sending them, taking them, acting on them on the way to user mode, and the
 * calls about them.
 *
 * Sending puts a signal into a set, the process's or one thread's, and makes a thread that does not
 * block it look (TASK_PENDING_SIGNAL, and a wake-up if it sleeps interruptibly). So a signal, a
 * real-time one too, is pending once a set, and none is lost for want of memory. What goes with it,
 * its siginfo, the process has once a number; but what a thread did itself is the thread's own, for
 * others may fault at the same time. Taking one picks the thread's own first, faults, then the
 * lowest number. SIGKILL is never pending: it ends the process when it is sent.
 *
 * Stopping: the thread that takes a stop signal sets process->stopped and tells the parent; every
 * thread waits in take_signal() until SIGCONT, which acts when it is *sent*, clears it, or the
 * process is to end.
 *
 * Pid 1 gets only signals for which it has a handler (and faults), so that no kill ends the system.
 */
#include "kernel/proc/signal.h"

#include <arch/signal.h>

#include "kernel/proc/process.h"

/* ---- what is pending ------------------------------------------------------------------------- */

static void drop(struct process *process, u64 signals)
{
	struct task *task;

	process->pending &= ~signals;
	list_for_each_entry(task, &process->threads, thread_link)
		task->signals->pending &= ~signals;
}

/* Take the next signal for current among those not in @blocked: its number or 0. process_lock held.
 */
static int dequeue(u64 blocked, struct siginfo *info)
{
	struct process *process = current->process;
	struct signal_state *own = current->signals;
	u64 *set = own->pending & ~blocked ? &own->pending : &process->pending;
	u64 ready = *set & ~blocked, faults = ready & SIGNALS_SYNCHRONOUS;
	int signo = ready ? __builtin_ctzll(faults ? faults : ready) + 1 : 0;

	if (!signo)
		return 0;
	*set &= ~sigmask(signo);
	*info = process->infos[signo - 1];
	if (signo == own->fault.signo) {
		*info = own->fault;
		own->fault.signo = 0;
	}
	return signo;
}

/* Recompute TASK_PENDING_SIGNAL of current. process_lock held. */
static void recalculate(void)
{
	const struct process *process = current->process;
	const struct signal_state *own = current->signals;

	lockdep_assert_held(&process_lock);
	ASSERT(fatal_signal_pending(current) == thread_must_end(process, current));
	if (((process->pending | own->pending) & ~own->blocked) || process->stopped ||
	    thread_must_end(process, current))
		task_set_pending(current, TASK_PENDING_SIGNAL);
	else
		task_clear_pending(current, TASK_PENDING_SIGNAL);
}

void signal_tell_threads(struct process *process, u64 signals, u32 states)
{
	struct task *task;

	lockdep_assert_held(&process_lock);
	list_for_each_entry(task, &process->threads, thread_link)
		if (signals & ~task->signals->blocked)
			sched_tell(task, TASK_PENDING_SIGNAL, states);
}

void signal_end_threads(struct process *process, const struct task *survivor)
{
	struct task *task;

	lockdep_assert_held(&process_lock);
	list_for_each_entry (task, &process->threads, thread_link)
		if (task != survivor)
			sched_tell(task, TASK_PENDING_SIGNAL | TASK_PENDING_END, STATES_KILL);
}

void signal_set_temporarily(u64 blocked)
{
	struct process *process = current->process;
	struct signal_state *signals = current->signals;

	guard(spinlock_irq, &process_lock);
	blocked &= ~SIGNALS_UNBLOCKABLE;
	/* What we were chosen to take and block now, another thread may take. */
	if (unlikely(process->thread_count > 1))
		signal_tell_threads(process, process->pending & blocked & ~signals->blocked,
				    STATE_BIT(TASK_INTERRUPTIBLE));
	signals->blocked = blocked;
	recalculate();
}

void signal_set_blocked(u64 blocked)
{
	signal_set_temporarily(blocked);
	current->signals->saved_blocked = current->signals->blocked;
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool is_ignored(const struct process *process, const struct task *thread, int signo)
{
	u64 handler = signal_handler(process, signo);

	if ((thread->signals->blocked | thread->signals->saved_blocked) & sigmask(signo))
		return false; /* what is done about it is decided when it is unblocked, or taken */
	if (process == init_process && handler == SIG_DFL)
		return true;
	if (unlikely(tracing))
		return false; /* to be seen, as under a debugger in Linux */
	return handler == SIG_IGN || (handler == SIG_DFL && (SIGNALS_IGNORED & sigmask(signo)));
}

/* What SIGCONT does when it is sent, even if ignored or blocked. */
static void go_on(struct process *process)
{
	drop(process, SIGNALS_STOP);
	if (!process->stopped)
		return;
	process->stopped = false;
	signal_tell_threads(process, ~0ULL, STATE_BIT(TASK_STOPPED));
	process_event(process, EVENT_CONTINUED);
}

void signal_send_locked(struct process *process, struct task *thread, int signo,
			const struct siginfo *info)
{
	lockdep_assert_held(&process_lock);
	if (list_empty(&process->threads)) /* a zombie */
		return;
	if (SIGNALS_STOP & sigmask(signo))
		drop(process, sigmask(SIGCONT));
	else if (signo == SIGCONT)
		go_on(process);

	struct task *taker = thread ? thread : main_thread(process), *task;

	/* That would take it now; the first one if all block it. */
	if (!thread && taker->signals->blocked & sigmask(signo))
		list_for_each_entry (task, &process->threads, thread_link)
			if (!(task->signals->blocked & sigmask(signo))) {
				taker = task;
				break;
			}
	if (is_ignored(process, taker, signo))
		return;
	if (signo == SIGKILL) {
		process_end(process, SIGKILL);
		return;
	}

	u64 *set = thread ? &thread->signals->pending : &process->pending;

	if (!(*set & sigmask(signo)))
		process->infos[signo - 1] = info ? *info : (struct siginfo){.code = SI_KERNEL};
	process->infos[signo - 1].signo = signo;
	*set |= sigmask(signo);
	if (!(taker->signals->blocked & sigmask(signo)))
		sched_tell(taker, TASK_PENDING_SIGNAL, STATE_BIT(TASK_INTERRUPTIBLE));
}

void signal_current(int signo)
{
	guard(spinlock_irq, &process_lock);
	signal_send_locked(current->process, current, signo, NULL);
}

void force_signal(int signo, int code, u64 address)
{
	struct process *process = current->process;
	struct signal_state *signals = current->signals;

	guard(spinlock_irqsave, &process_lock);
	if ((signals->blocked & sigmask(signo)) || signal_handler(process, signo) == SIG_IGN) {
		process->actions[signo - 1].handler = SIG_DFL;
		signals->blocked &= ~sigmask(signo);
		signals->saved_blocked &= ~sigmask(signo);
	}
	if (process == init_process && signal_handler(process, signo) == SIG_DFL)
		panic("init (pid 1) got fatal signal %d (code %d) at address 0x%llx, ip 0x%llx",
		      signo, code, (unsigned long long)address,
		      (unsigned long long)current_registers()->ip);
	signals->fault = (struct siginfo){.signo = signo, .code = code, .address = address};
	process->infos[signo - 1] = signals->fault; /* if another fault takes its place */
	signals->pending |= sigmask(signo);
	task_set_pending(current, TASK_PENDING_SIGNAL);
}

/* ---- acting on them, on the way to user mode ------------------------------------------------- */

/* The default action of @signo, which is not to ignore it. */
static void act_by_default(struct process *process, int signo)
{
	if (!(SIGNALS_STOP & sigmask(signo))) {
		process_end(process, signo);
	} else if (signo == SIGSTOP || !group_is_orphaned(process->group, NULL)) {
		/* a group with nobody left in its session to continue it is stopped by SIGSTOP only
		 */
		process->stopped = true;
		signal_tell_threads(process, ~0ULL, STATE_BIT(TASK_INTERRUPTIBLE));
		process_event(process, EVENT_STOPPED(signo));
	}
}

/*
 * Take signals until one has a handler: returns it, its action in *action. Default actions happen
 * here, the fatal ones do not return. 0: nothing left.
 */
static int take_signal(struct signal_action *action, struct siginfo *info)
{
	struct process *process = current->process;
	int signo;

	spin_lock_irq(&process_lock);
	for (;;) {
		while (process->stopped && !thread_must_end(process, current)) {
			current->state = TASK_STOPPED;
			spin_unlock_irq(&process_lock);
			schedule();
			spin_lock_irq(&process_lock);
		}
		if (thread_must_end(process, current)) {
			spin_unlock_irq(&process_lock);
			process_exit(process->exit_code);
		}
		signo = dequeue(current->signals->blocked, info);
		if (!signo)
			break;
		if (unlikely(tracing))
			control_recordf("signal", "[%d,%d,%d,%d,%u,%d]", current->pid, signo,
					info->code, info->pid, info->uid, info->status);

		u64 handler = signal_handler(process, signo);

		if (handler > SIG_IGN) {
			*action = process->actions[signo - 1];
			if (action->flags & SA_RESETHAND) /* flags and mask stay */
				process->actions[signo - 1].handler = SIG_DFL;
			break;
		}
		if (handler == SIG_DFL && !(SIGNALS_IGNORED & sigmask(signo)) &&
		    process != init_process)
			act_by_default(process, signo);
	}
	recalculate();
	spin_unlock_irq(&process_lock);
	return signo;
}

/* A call that a signal interrupted: fail it with EINTR or have it made again. @action NULL: no
 * handler. */
static void finish_call(struct registers *registers, const struct signal_action *action)
{
	struct signal_state *signals = current->signals;
	int error = arch_syscall_error(registers);

	if (action)
		signals->repeats = false;
	if (error < ERESTARTSYS)
		return;
	if (action && error != ERESTARTNOINTR &&
	    (error != ERESTARTSYS || !(action->flags & SA_RESTART))) {
		registers->ax = (u64)-EINTR;
		return;
	}
	signals->repeats = error == ERESTART_RESTARTBLOCK;
	arch_repeat_syscall(registers);
}

/* Act on all that is pending for current. */
static void deliver(struct registers *registers)
{
	struct signal_state *signals = current->signals;
	struct signal_action action;
	struct siginfo info;
	int signo = take_signal(&action, &info);
	u64 saved = signals->saved_blocked;

	finish_call(registers, signo ? &action : NULL);
	arch_end_syscall(registers);
	if (!signo) {
		signal_set_blocked(saved);
	} else if (arch_push_signal_frame(registers, &action, &info, saved, &signals->stack)) {
		if (signo == SIGSEGV)
			process_exit_group(SIGSEGV); /* the stack is gone: no handler can run */
		signal_set_blocked(saved);
		force_signal(SIGSEGV, SI_KERNEL, 0);
	} else {
		signal_set_blocked(signals->blocked | action.mask |
				   (action.flags & SA_NODEFER ? 0 : sigmask(signo)));
	}
}

void exit_to_user(struct registers *registers)
{
	lockdep_assert_none_held();
	if (current->pending & TASK_PENDING_START) {
		task_clear_pending(current, TASK_PENDING_START);
		/* As in Linux, a bad address is the program's own affair. */
		(void)put_user(current->pid, current->set_child_tid);
	}
	if (current->pending & TASK_PENDING_RESCHED)
		schedule();
	if (current->pending & TASK_PENDING_SIGNAL)
		deliver(registers);
}

/* ---- calls: actions and masks ---------------------------------------------------------------- */

s64 sys_rt_sigaction(int signo, const void *user_new, void *user_old, size_t set_size)
{
	struct process *process = current->process;
	struct signal_action new = {0}, old = {0};

	if (set_size != sizeof(u64))
		return -EINVAL;
	TRY(user_new ? read_user(&new, user_new, sizeof(new)) : 0);
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
			drop(process, sigmask(signo));
			recalculate();
		}
	}
	spin_unlock_irq(&process_lock);
	return user_old ? write_user(user_old, &old, sizeof(old)) : 0;
}

int get_signal_set(const u64 *from, size_t size, u64 *set)
{
	return size != sizeof(u64) ? -EINVAL : get_user(*set, from);
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

s64 sys_rt_sigpending(u64 *set, size_t set_size)
{
	if (set_size > sizeof(u64))
		return -EINVAL;

	const struct signal_state *own = current->signals;
	u64 pending = (current->process->pending | own->pending) & own->blocked;

	return write_user(set, &pending, set_size);
}

s64 sys_sigaltstack(const void *user_new, void *user_old)
{
	struct signal_stack *stack = &current->signals->stack, new, old = *stack;
	bool on_it = on_signal_stack(stack, current_registers()->sp);

	old.flags |= on_it ? SS_ONSTACK : 0;
	if (user_new) {
		TRY(read_user(&new, user_new, sizeof(new)));
		if (on_it)
			return -EPERM;
		if (new.flags & ~(SS_DISABLE | SS_ONSTACK))
			return -EINVAL;
		if (new.flags & SS_DISABLE)
			new.sp = new.size = 0;
		else if (new.size < MINSIGSTKSZ)
			return -ENOMEM;
		new.flags &= ~SS_ONSTACK;
		*stack = new;
	}
	return user_old ? write_user(user_old, &old, sizeof(old)) : 0;
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

	int signo = dequeue(~set, &info);

	spin_unlock_irq(&process_lock);
	signal_set_blocked(signals->saved_blocked);
	if (!signo)
		return in_time ? -EINTR : -EAGAIN;
	memcpy(whole, &info, sizeof(info));
	TRY(user_info ? write_user(user_info, whole, sizeof(whole)) : 0);
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
	list_for_each_entry(process, &process_list, all_link) {
		if (!process_is_meant(process, pid) ||
		    (pid == -1 && (process == init_process || process == current->process)))
			continue;

		int error = send_checked(process, NULL, signo);

		/* One success is success; -EPERM only if nobody could be signalled. */
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

SYSCALL_IS(tgkill, (int pid, int thread, int signo),
	   pid <= 0 ? -EINVAL : send_thread(pid, thread, signo))
SYSCALL_IS(tkill, (int thread, int signo), send_thread(0, thread, signo))
