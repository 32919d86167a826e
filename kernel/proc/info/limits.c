/*
 * limits.c - what a process may use, told and changed: prlimit(2).
 */
#include "kernel/proc/info/status.h"
#include "kernel/proc/process.h"

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
