/*
 * jobctl.c - process groups and sessions: setpgid, setsid, and what terminals ask (core/jobctl.h).
 *
 * A group or session is not an object: it is the set of processes that carry its number. So finding
 * its members is a walk through all processes, which only terminals' keys, kill(-pgid) and exits
 * do.
 */
#include "kernel/core/jobctl.h"

#include "kernel/proc/process.h"

pid_t current_pgrp(void)
{
	return current->process ? current->process->group : 0;
}

pid_t current_session(void)
{
	return current->process ? current->process->session : 0;
}

bool current_is_session_leader(void)
{
	return current->process && current->process->session == current->process->pid;
}

int signal_pgrp(pid_t pgrp, int signo)
{
	unsigned long flags;
	int count;

	spin_lock_irqsave(&process_lock, flags);
	count = signal_group_locked(pgrp, signo);
	spin_unlock_irqrestore(&process_lock, flags);
	return count ? 0 : -ESRCH;
}

/* A process of @group, or NULL. process_lock held. */
static struct process *group_member(pid_t group)
{
	struct process *process;

	list_for_each_entry(process, &process_list, all_link) {
		if (process->group == group)
			return process;
	}
	return NULL;
}

pid_t pgrp_session(pid_t pgrp)
{
	struct process *process;
	unsigned long flags;
	pid_t session;

	spin_lock_irqsave(&process_lock, flags);
	process = group_member(pgrp);
	session = process ? process->session : 0;
	spin_unlock_irqrestore(&process_lock, flags);
	return session;
}

/* Does @process keep its group from being orphaned: is its parent in another group of its session?
 */
static bool anchors_group(const struct process *process)
{
	const struct process *parent = process->parent;

	return parent && parent != init_process && parent->group != process->group &&
	       parent->session == process->session;
}

bool group_is_orphaned(pid_t group, const struct process *ignored)
{
	struct process *process;

	lockdep_assert_held(&process_lock);
	list_for_each_entry(process, &process_list, all_link) {
		if (process->group == group && process != ignored && !process->zombie &&
		    anchors_group(process))
			return false;
	}
	return true;
}

bool pgrp_is_orphaned(pid_t pgrp)
{
	unsigned long flags;
	bool orphaned;

	spin_lock_irqsave(&process_lock, flags);
	orphaned = group_is_orphaned(pgrp, NULL);
	spin_unlock_irqrestore(&process_lock, flags);
	return orphaned;
}

static bool group_has_stopped(pid_t group)
{
	struct process *process;

	list_for_each_entry(process, &process_list, all_link) {
		if (process->group == group && process->stopped)
			return true;
	}
	return false;
}

/*
 * @process is ending, or losing its parent @parent: did that orphan its group while members are
 * stopped? Nobody could continue them, so POSIX has them told: SIGHUP, SIGCONT.
 */
void group_check_orphaned(struct process *process, struct process *parent)
{
	if (!parent || parent->group == process->group || parent->session != process->session)
		return;
	if (!group_has_stopped(process->group) || !group_is_orphaned(process->group, process))
		return;
	signal_group_locked(process->group, SIGHUP);
	signal_group_locked(process->group, SIGCONT);
}

bool current_signal_ignored(int signo)
{
	struct process *process = current->process;
	unsigned long flags;
	bool ignored;

	if (!process)
		return true;
	spin_lock_irqsave(&process_lock, flags);
	ignored = (current->signals->blocked & sigmask(signo)) ||
		  signal_handler(process, signo) == SIG_IGN;
	spin_unlock_irqrestore(&process_lock, flags);
	return ignored;
}

static int set_group(struct process *process, pid_t group)
{
	struct process *me = current->process, *member;

	if (process != me) {
		if (process->parent != me)
			return -ESRCH;
		if (process->session != me->session)
			return -EPERM;
		if (process->did_exec)
			return -EACCES;
	}
	if (process->session == process->pid)
		return -EPERM;
	if (group != process->pid) {
		member = group_member(group);
		if (!member || member->session != me->session)
			return -EPERM;
	}
	process->group = group;
	return 0;
}

s64 sys_setpgid(int pid, int group)
{
	struct process *process;
	s64 error = -ESRCH;

	if (group < 0)
		return -EINVAL;
	spin_lock_irq(&process_lock);
	process = pid ? process_find(pid) : current->process;
	if (process)
		error = set_group(process, group ? group : process->pid);
	spin_unlock_irq(&process_lock);
	return error;
}

s64 sys_setsid(void)
{
	struct process *me = current->process;
	s64 result = -EPERM;

	spin_lock_irq(&process_lock);
	if (!group_member(me->pid)) {
		me->session = me->group = me->pid;
		result = me->pid;
	}
	spin_unlock_irq(&process_lock);
	return result;
}

static s64 group_of(pid_t pid, bool session)
{
	struct process *process;
	s64 result = -ESRCH;

	spin_lock_irq(&process_lock);
	process = pid ? process_find(pid) : current->process;
	if (process)
		result = session ? process->session : process->group;
	spin_unlock_irq(&process_lock);
	return result;
}

s64 sys_getpgid(int pid)
{
	return group_of(pid, false);
}

s64 sys_getpgrp(void)
{
	return current->process->group;
}

s64 sys_getsid(int pid)
{
	return group_of(pid, true);
}

u64 current_file_limit(void)
{
	return current->process ? process_limit(RLIMIT_FSIZE) : RLIM_INFINITY;
}

pid_t current_process_id(void)
{
	return current->process ? current->process->pid : 0;
}
