/*
 * priority.c - getpriority(2) and setpriority(2): nice values, which say how long a process's time
 * slices are (task_set_nice()).
 */
#include "kernel/proc/process.h"

#define PRIO_PROCESS 0

/* The process that is meant, or ERR_PTR(-EINVAL, -ESRCH). process_lock held. */
static struct process *whose_priority(int which, int who)
{
	struct process *process = process_find_or_self(who);

	lockdep_assert_held(&process_lock);
	if (which != PRIO_PROCESS)
		return ERR_PTR(-EINVAL);
	if (!process || !process->thread_count)
		return ERR_PTR(-ESRCH);
	return process;
}

s64 sys_setpriority(int which, int who, int nice)
{
	const struct cred *mine = current->cred;

	nice = max(min(nice, 19), -20);
	guard(spinlock_irq, &process_lock);
	struct process *process = TRY_PTR(whose_priority(which, who));
	const struct cred *theirs = process_cred(process);
	struct task *task;

	if (!capable(mine) && theirs->uid != mine->euid && theirs->euid != mine->euid)
		return -EPERM;
	if (nice < process->nice && !capable(mine))
		return -EACCES;
	process->nice = nice;
	list_for_each_entry (task, &process->threads, thread_link)
		task_set_nice(task, nice);
	return 0;
}

/* 1 .. 40, the best. */
s64 sys_getpriority(int which, int who)
{
	guard(spinlock_irq, &process_lock);
	return 20 - TRY_PTR(whose_priority(which, who))->nice;
}
