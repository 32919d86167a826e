/*
 * jobctl.c - process groups and sessions: setpgid, setsid, and what terminals ask.
 *
 * A group or session is not an object: it is the set of processes that carry its number. So finding
 * its members is a walk through all processes, which only terminals' keys, kill(-pgid) and exits
 * do.
 */
#include "kernel/proc/process.h"

const struct terminal_hooks *terminal;

static int signal_group(pid_t group, pid_t session, int signo)
{
	struct process *process;
	int result = -ESRCH;

	lockdep_assert_held(&process_lock);
	list_for_each_entry(process, &process_list, all_link) {
		if (process->group != group || process->session != session ||
		    !process->thread_count)
			continue;
		result = 0;
		signal_send_locked(process, NULL, signo, NULL);
	}
	return result;
}

int signal_pgrp(pid_t pgrp, pid_t session, int signo)
{
	guard(spinlock_irqsave, &process_lock);
	return signal_group(pgrp, session, signo);
}

/* A process of @group, or NULL. process_lock held. */
static struct process *group_member(pid_t group)
{
	struct process *process;

	lockdep_assert_held(&process_lock);
	list_for_each_entry (process, &process_list, all_link)
		if (process->group == group)
			return process;
	return NULL;
}

/* Is a process of @group stopped? process_lock held. */
static bool group_has_stopped(pid_t group)
{
	const struct process *process;

	lockdep_assert_held(&process_lock);
	list_for_each_entry (process, &process_list, all_link)
		if (process->group == group && process->stopped)
			return true;
	return false;
}

pid_t pgrp_session(pid_t pgrp)
{
	guard(spinlock_irqsave, &process_lock);

	struct process *process = group_member(pgrp);

	return process ? process->session : 0;
}

bool group_is_orphaned(pid_t group, const struct process *ignored)
{
	struct process *process;

	lockdep_assert_held(&process_lock);
	list_for_each_entry(process, &process_list, all_link) {
		const struct process *parent = process->parent;

		if (process->group == group && process != ignored && process->thread_count &&
		    parent && parent != init_process && parent->group != group &&
		    parent->session == process->session)
			return false;
	}
	return true;
}

int signal_background(int signo)
{
	struct process *process = current->process;

	guard(spinlock_irqsave, &process_lock);
	if ((current->signals->blocked & sigmask(signo)) ||
	    signal_handler(process, signo) == SIG_IGN)
		return signo == SIGTTIN ? -EIO : 0;
	if (group_is_orphaned(process->group, NULL))
		return -EIO;
	signal_group(process->group, process->session, signo);
	task_set_pending(current, TASK_PENDING_SIGNAL); /* whichever thread was told */
	return -ERESTARTSYS;
}

/*
 * @process is ending, or losing its parent @parent: did that orphan its group while members are
 * stopped? Nobody could continue them, so POSIX has them told: SIGHUP, SIGCONT.
 */
void group_check_orphaned(struct process *process, struct process *parent)
{
	lockdep_assert_held(&process_lock);
	if (!parent || parent->group == process->group || parent->session != process->session ||
	    !group_has_stopped(process->group) || !group_is_orphaned(process->group, process))
		return;
	signal_group(process->group, process->session, SIGHUP);
	signal_group(process->group, process->session, SIGCONT);
}

s64 sys_setpgid(int pid, int group)
{
	struct process *me = current->process;

	pid = pid ?: me->pid;
	group = group ?: pid;
	if (group < 0)
		return -EINVAL;
	guard(spinlock_irq, &process_lock);

	struct process *process = process_find(pid);

	if (!process || (process != me && process->parent != me))
		return -ESRCH;
	if (process->session != me->session)
		return -EPERM;
	if (process != me && process->did_exec)
		return -EACCES;

	const struct process *member = group_member(group);
	bool exists = group == pid || (member && member->session == me->session);

	if (process->session == pid || !exists)
		return -EPERM;
	process->group = group;
	return 0;
}

s64 sys_setsid(void)
{
	struct process *me = current->process;

	guard(spinlock_irq, &process_lock);
	if (group_member(me->pid))
		return -EPERM;
	return me->session = me->group = me->pid;
}

s64 sys_getpgid(int pid)
{
	guard(spinlock_irq, &process_lock);

	const struct process *process = process_find_or_self(pid);

	return process ? process->group : -ESRCH;
}

s64 sys_getpgrp(void)
{
	return sys_getpgid(0);
}

s64 sys_getsid(int pid)
{
	guard(spinlock_irq, &process_lock);

	const struct process *process = process_find_or_self(pid);

	return process ? process->session : -ESRCH;
}

