/*
 * fork.c - making processes and threads: fork, vfork, clone.
 *
 * A child shares or copies each of its parent's parts as the flags say. Order of construction: task
 * and process, then the parts, then the pid (which makes it visible), then its first run; whatever
 * fails, the parts made so far are dropped in reverse.
 *
 * Limits, all -EINVAL: namespaces, pidfds; handlers shared by processes (CLONE_SIGHAND without
 * CLONE_THREAD); CLONE_VFORK with CLONE_THREAD.
 */
#include <arch/process.h>

#include "fs/vfs.h"
#include "kernel/core/printk.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/itimer.h"
#include "kernel/proc/process.h"
#include "mm/vm.h"

static int check_flags(u64 flags)
{
	const u64 thread = CLONE_THREAD | CLONE_SIGHAND;

	if ((flags & thread) && ((flags & thread) != thread || !(flags & CLONE_VM) ||
				 (flags & CLONE_VFORK)))
		return -EINVAL;
	if (flags & (CLONE_NEW_SPACES | CLONE_PIDFD | CLONE_PTRACE | CLONE_PARENT) || flags >> 32)
		return -EINVAL;
	return 0;
}

/* RLIMIT_NPROC: the processes of this user. */
static int check_process_limit(void)
{
	uid_t uid = current->cred->uid;
	u64 limit = process_limit(RLIMIT_NPROC), count = 0;
	struct process *process;
	struct task *task;
	unsigned long flags;

	if (uid == 0 || limit >= max_tasks)
		return 0;
	spin_lock_irqsave(&process_lock, flags);
	list_for_each_entry(process, &process_list, all_link) {
		list_for_each_entry(task, &process->threads, thread_link)
			count += task->cred->uid == uid;
	}
	spin_unlock_irqrestore(&process_lock, flags);
	return count < limit ? 0 : -EAGAIN;
}

/* What a new process has from its parent's, besides memory and files. */
static void copy_process(struct process *child, struct process *parent, int exit_signal)
{
	child->parent = parent;
	child->exit_signal = exit_signal;
	child->nice = parent->nice;
	child->no_new_privileges = parent->no_new_privileges;
	child->not_dumpable = parent->not_dumpable;
	memcpy(child->limits, parent->limits, sizeof(child->limits));
	itimer_init(child);
}

/* Memory, files, working directory, credentials; 0 or -ENOMEM with what was made hung on @child. */
static int copy_parts(struct task *child, u64 flags)
{
	struct task *parent = current;

	child->cred = get_cred(parent->cred);
	if (flags & CLONE_FS) {
		fs_context_get(parent->fs);
		child->fs = parent->fs;
	} else {
		child->fs = fs_context_fork(parent->fs);
		if (!child->fs)
			return -ENOMEM;
	}
	if (flags & CLONE_FILES) {
		file_table_get(parent->files);
		child->files = parent->files;
	} else {
		child->files = file_table_fork(parent->files);
		if (!child->files)
			return -ENOMEM;
	}
	if (flags & CLONE_VM) {
		mm_get(parent->mm);
		child->mm = parent->mm;
	} else {
		child->mm = mm_fork(parent->mm);
		if (!child->mm)
			return -ENOMEM;
	}
	if (!(flags & CLONE_VM) && parent->rseq_area) {
		child->rseq_area = parent->rseq_area;
		child->rseq_signature = parent->rseq_signature;
		sched_rseq(child);
	}
	child->signals->blocked = parent->signals->blocked;
	if (!(flags & CLONE_VM) || (flags & CLONE_VFORK))
		child->signals->stack = parent->signals->stack;
	return 0;
}

static void drop_parts(struct task *child)
{
	if (child->mm)
		mm_put(child->mm);
	if (child->files)
		file_table_put(child->files);
	fs_context_put(child->fs);
	if (child->cred)
		put_cred(child->cred);
}

void vfork_done(struct process *process)
{
	struct task *parent;
	unsigned long flags;

	if (likely(!process->vfork_parent))
		return;
	spin_lock_irqsave(&process_lock, flags);
	parent = process->vfork_parent;
	process->vfork_parent = NULL;
	if (parent)
		wake_up_task(parent);
	spin_unlock_irqrestore(&process_lock, flags);
}

/* The child cannot be reaped, since only we could, while we look at it by pid under the lock. */
static bool vfork_is_over(pid_t pid)
{
	struct process *child;
	unsigned long flags;
	bool over;

	spin_lock_irqsave(&process_lock, flags);
	child = process_find(pid);
	if (child && child->vfork_parent == current && fatal_signal_pending(current))
		child->vfork_parent = NULL;
	over = !child || child->vfork_parent != current;
	spin_unlock_irqrestore(&process_lock, flags);
	return over;
}

static void vfork_wait(pid_t pid)
{
	for (;;) {
		set_current_state(TASK_KILLABLE);
		if (vfork_is_over(pid))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
}

/* A process for the child: a new one, or, for a thread, our own. NULL: no memory. */
static struct process *choose_process(const struct clone_arguments *arguments)
{
	struct process *process;

	if (arguments->flags & CLONE_THREAD)
		return current->process;
	process = process_allocate();
	if (!process)
		return NULL;
	copy_process(process, current->process, arguments->exit_signal);
	if (arguments->flags & CLONE_VFORK)
		process->vfork_parent = current;
	return process;
}

static void prepare_task(struct task *child, const struct clone_arguments *arguments)
{
	u64 flags = arguments->flags;

	arch_prepare_fork(child, arguments->stack, flags & CLONE_SETTLS, arguments->tls);
	if (flags & CLONE_CHILD_CLEARTID)
		child->clear_child_tid = arguments->child_tid;
	if (flags & CLONE_CHILD_SETTID) {
		child->set_child_tid = arguments->child_tid;
		child->pending |= TASK_PENDING_START;
	}
}

s64 process_clone(const struct clone_arguments *arguments)
{
	u64 flags = arguments->flags;
	struct process *process;
	struct task *child;
	pid_t pid;
	int error = check_flags(flags);

	if (!error)
		error = check_process_limit();
	if (error)
		return error;
	child = task_allocate(current->comm);
	process = choose_process(arguments);
	error = -ENOMEM;
	if (!child || !process)
		goto fail;
	error = copy_parts(child, flags);
	if (error)
		goto fail_parts;
	prepare_task(child, arguments);
	error = process_link_task(process, child);
	if (error)
		goto fail_parts;
	pid = child->pid;
	/* as in Linux, a bad address is the program's own affair */
	if (flags & CLONE_PARENT_SETTID)
		(void)put_user(pid, arguments->parent_tid);
	sched_start(child);
	if (flags & CLONE_VFORK)
		vfork_wait(pid);
	return pid;

fail_parts:
	drop_parts(child);
fail:
	if (process && process != current->process)
		process_free(process);
	if (child)
		task_free(child);
	return error;
}
