/*
 * sys_process.c - the small things a process asks about itself.
 */
#include "kernel/proc/process.h"

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
	bool there = process_find_or_self(pid) != NULL;
	spin_unlock_irq(&process_lock);
	if (!there)
		return -ESRCH;
	return put_user((1ULL << nr_cpus) - 1, mask) ? -EFAULT : (s64)sizeof(u64);
}
