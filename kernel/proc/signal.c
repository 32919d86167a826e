/*
 * signal.c - signals: sending them, taking them, acting on them on the way to user mode. The calls
 * about them are in signal_calls.c.
 *
 * Sending puts a signal into a set, the process's or one thread's, and makes a thread that does not
 * block it look (TASK_PENDING_SIGNAL, and a wake-up if it sleeps interruptibly). So a signal, a
 * real-time one too, is pending once a set, and none is lost for want of memory. What goes with it,
 * its siginfo, the process has once a number; but a thread has that of its last fault itself, for
 * others may fault at the same time. Taking one looks into the thread's own set first, and into the
 * process's if that has none; of a set faults go first, then the lowest number. SIGKILL is never
 * pending: it ends the process when it is sent.
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

void signal_drop(struct process *process, u64 signals)
{
	struct task *task;

	lockdep_assert_held(&process_lock);
	process->pending &= ~signals;
	list_for_each_entry(task, &process->threads, thread_link)
		task->signals->pending &= ~signals;
}

int signal_dequeue(u64 blocked, struct siginfo *info)
{
	struct process *process = current->process;
	struct signal_state *own = current->signals;
	u64 *set = own->pending & ~blocked ? &own->pending : &process->pending;
	u64 ready = *set & ~blocked;
	int signo;

	lockdep_assert_held(&process_lock);
	if (!ready)
		return 0;
	if (ready & SIGNALS_SYNCHRONOUS)
		ready &= SIGNALS_SYNCHRONOUS;
	signo = __builtin_ctzll(ready) + 1;
	*set &= ~sigmask(signo);
	*info = process->infos[signo - 1];
	if (signo == own->fault.signo) {
		*info = own->fault;
		own->fault.signo = 0;
	}
	return signo;
}

void signal_recalculate(void)
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

noinline void signal_tell_threads(struct process *process, u64 signals, u32 states)
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
	signal_recalculate();
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

	lockdep_assert_held(&process_lock);
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
	lockdep_assert_held(&process_lock);
	signal_drop(process, SIGNALS_STOP);
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
		signal_drop(process, sigmask(SIGCONT));
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
	lockdep_assert_held(&process_lock);
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
		signo = signal_dequeue(current->signals->blocked, info);
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
	signal_recalculate();
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
	sched_do_pending();
	if (current->pending & TASK_PENDING_SIGNAL)
		deliver(registers);
}
