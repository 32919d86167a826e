/*
 * sys_process.c - limits, and the small things a process asks about itself.
 */
#include "kernel/proc/info/status.h"
#include "kernel/proc/process.h"

/* ---- limits ---------------------------------------------------------------------------------- */

/* process_lock held. */
static int change_limit(struct process *process, u32 kind, const struct rlimit *new)
{
	struct task *task;

	lockdep_assert_held(&process_lock);
	if (new->soft > new->hard)
		return -EINVAL;
	if (new->hard > process->limits[kind].hard && !capable(current->cred))
		return -EPERM;
	if (kind == RLIMIT_NOFILE && new->hard > FILE_TABLE_MAX)
		return -EPERM;
	process->limits[kind] = *new;
	/* This one is kept where it is asked for as well. */
	list_for_each_entry(task, &process->threads, thread_link)
		if (kind == RLIMIT_NOFILE && task->files)
			file_table_set_limit(task->files, (u32)new->soft);
	return 0;
}

s64 sys_prlimit64(int pid, u32 kind, const void *user_new, void *user_old)
{
	struct rlimit new, old;

	if (kind >= RLIMIT_COUNT)
		return -EINVAL;
	TRY(read_user_if_given(&new, user_new, sizeof(new)));
	{
		guard(spinlock_irq, &process_lock);
		struct process *process = process_find_or_self(pid);

		if (!process)
			return -ESRCH;
		if (!may_inspect(process))
			return -EPERM;
		old = process->limits[kind];
		if (user_new)
			TRY(change_limit(process, kind, &new));
	}
	return write_user_if_given(user_old, &old, sizeof(old));
}

s64 sys_getrlimit(u32 kind, void *limit)
{
	if (!limit && kind < RLIMIT_COUNT)
		return -EFAULT;
	return sys_prlimit64(0, kind, NULL, limit);
}

s64 sys_setrlimit(u32 kind, const void *limit)
{
	if (!limit)
		return -EFAULT;
	return sys_prlimit64(0, kind, limit, NULL);
}

/* ---- small things a process asks about itself ------------------------------------------------ */

enum { PR_GET_DUMPABLE = 3, PR_SET_DUMPABLE, PR_SET_NAME = 15, PR_GET_NAME };

s64 sys_prctl(int option, u64 a, u64 b, u64 c, u64 d)
{
	struct process *process = current->process;
	char name[16] = "";

	switch (option) {
	case PR_SET_NAME:
		name[TRY(strncpy_from_user(name, (const char *)a, sizeof(name) - 1))] = 0;
		memcpy(current->comm, name, sizeof(name));
		return 0;
	case PR_GET_NAME:
		memcpy(name, current->comm, sizeof(name));
		return write_user((void *)a, name, sizeof(name));
	case PR_SET_DUMPABLE:
		if (a > 1)
			return -EINVAL;
		process->not_dumpable = !a;
		return 0;
	case PR_GET_DUMPABLE:
		return !process->not_dumpable;
	}
	return -EINVAL;
}

s64 sys_set_tid_address(int *address)
{
	current->clear_child_tid = address;
	return current->pid;
}

s64 sys_sched_yield(void)
{
	schedule();
	return 0;
}

s64 sys_sched_getaffinity(int pid, u32 size, u64 *mask)
{
	if (size < sizeof(u64) || size % sizeof(u64))
		return -EINVAL;
	spin_lock_irq(&process_lock);
	bool there = !pid || task_find(pid);
	spin_unlock_irq(&process_lock);
	if (!there)
		return -ESRCH;
	return put_user((1ULL << nr_cpus) - 1, mask) ? -EFAULT : (s64)sizeof(u64);
}
