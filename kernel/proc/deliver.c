/*
 * deliver.c - acting on signals, on the way to user mode: default actions, stopping, running
 * handlers, and what becomes of a call that a signal interrupted.
 *
 * Stopping: the thread that takes a stop signal sets process->stopped and tells the parent; every
 * thread waits in stop_here() until SIGCONT or SIGKILL, which act when they are *sent* (signal.c),
 * clears it.
 */
#include <arch/process.h>
#include <arch/signal.h>

#include "kernel/core/errno.h"
#include "kernel/core/export.h"
#include "kernel/core/sched.h"
#include "kernel/proc/process.h"

/* Wait for SIGCONT or SIGKILL. process_lock held, released while waiting. */
static void stop_here(struct process *process, unsigned long *flags)
{
	while (process->stopped && !thread_must_end(process, current)) {
		current->state = TASK_STOPPED;
		spin_unlock_irqrestore(&process_lock, *flags);
		schedule();
		spin_lock_irqsave(&process_lock, *flags);
	}
	__set_current_state(TASK_RUNNING);
	signal_recalculate();
}

static void stop_process(struct process *process, int signo)
{
	/* A group with nobody left in its session to continue it is not stopped, but by SIGSTOP. */
	if (signo != SIGSTOP && group_is_orphaned(process->group, NULL))
		return;
	process->stopped = true;
	process->stop_code = signo;
	process->continued = false;
	signal_tell_others(process, ~0ULL);
	signal_notify_parent(process, CLD_STOPPED, signo);
}

/*
 * Take signals until one has a handler: returns it, its action in *action. Default actions happen
 * here, the fatal ones do not return. 0: nothing left.
 */
static int take_signal(struct signal_action *action, struct siginfo *info)
{
	struct process *process = current->process;
	unsigned long flags;
	u64 handler;
	int signo;

	spin_lock_irqsave(&process_lock, flags);
	for (;;) {
		if (process->stopped)
			stop_here(process, &flags);
		if (thread_must_end(process, current)) {
			spin_unlock_irqrestore(&process_lock, flags);
			process_exit(process->exit_code);
		}
		signo = signal_dequeue(current->signals->blocked, info);
		if (unlikely(tracing) && signo)
			control_recordf("signal", "[%d,%d,%d,%d,%u,%d]", current->pid, signo,
					info->code, info->pid, info->uid, info->status);
		handler = signo ? signal_handler(process, signo) : SIG_DFL;
		if (!signo || handler > SIG_IGN)
			break;
		if (handler == SIG_IGN || (SIGNALS_IGNORED & sigmask(signo)))
			continue;
		if (process == init_process)
			continue;
		if (SIGNALS_STOP & sigmask(signo)) {
			stop_process(process, signo);
			continue;
		}
		spin_unlock_irqrestore(&process_lock, flags);
		process_exit_group(signo);
	}
	if (signo) {
		*action = *signal_action(process, signo);
		if (action->flags & SA_RESETHAND)
			process->handled &= ~sigmask(signo);
	}
	signal_recalculate();
	spin_unlock_irqrestore(&process_lock, flags);
	return signo;
}

static void restore_saved_mask(void)
{
	struct signal_state *signals = current->signals;

	if (signals->restore_blocked) {
		signals->restore_blocked = false;
		signal_set_blocked(signals->saved_blocked);
	}
}

/* A call that a signal interrupted: fail it with EINTR or have it made again. @action NULL: no
 * handler. */
static void finish_call(struct registers *registers, const struct signal_action *action)
{
	bool again = !action;

	switch (arch_syscall_error(registers)) {
	case ERESTARTNOINTR:
		again = true;
		break;
	case ERESTARTSYS:
		again = !action || (action->flags & SA_RESTART);
		break;
	case ERESTARTNOHAND:
		break;
	case ERESTART_RESTARTBLOCK:
		if (again)
			arch_repeat_syscall(registers, ARCH_RESTART_SYSCALL);
		else
			arch_syscall_result(registers) = (u64)-EINTR;
		return;
	default:
		return;
	}
	if (again)
		arch_repeat_syscall(registers, arch_syscall_number(registers));
	else
		arch_syscall_result(registers) = (u64)-EINTR;
}

void signals_deliver(struct registers *registers)
{
	struct signal_state *signals = current->signals;
	struct signal_action action;
	struct siginfo info;
	u64 saved;
	int signo = take_signal(&action, &info);

	finish_call(registers, signo ? &action : NULL);
	arch_end_syscall(registers);
	if (!signo) {
		restore_saved_mask();
		return;
	}
	if (unlikely(current->rseq_area))
		rseq_return(registers);
	saved = signals->restore_blocked ? signals->saved_blocked : signals->blocked;
	signals->restore_blocked = false;
	if (arch_push_signal_frame(registers, &action, &info, saved)) {
		if (signo == SIGSEGV) {
			process_exit_group(SIGSEGV); /* the stack is gone: no handler can run */
		}
		signal_set_blocked(saved);
		force_signal(SIGSEGV, SI_KERNEL, 0);
		return;
	}
	signal_set_blocked(signals->blocked | action.mask |
			   (action.flags & SA_NODEFER ? 0 : sigmask(signo)));
}

void signals_exec(void)
{
	struct process *process = current->process;
	unsigned long flags;
	u64 ignored = 0;

	spin_lock_irqsave(&process_lock, flags);
	for (int signo = 1; signo <= SIGNAL_COUNT; signo++) {
		if (signal_handler(process, signo) == SIG_IGN) {
			ignored |= sigmask(signo);
			*signal_action(process, signo) = (struct signal_action){.handler = SIG_IGN};
		}
	}
	process->handled = ignored;
	current->signals->stack = (struct signal_stack){.flags = SS_DISABLE};
	spin_unlock_irqrestore(&process_lock, flags);
}
