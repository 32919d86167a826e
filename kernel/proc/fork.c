/*
 * fork.c - making processes and threads: fork, vfork, clone.
 *
 * Threads share all that their process has; processes share at most their memory. Order of
 * construction: task and process, then the parts, then the pid (which makes it visible), then its
 * first run; whatever fails, the parts made so far are dropped in reverse.
 *
 * Limits, all -EINVAL: namespaces (but for mounts', with MOUNT_NS), pidfds; CLONE_THREAD, SIGHAND,
 * FILES and FS not all together; CLONE_VFORK with CLONE_THREAD; a signal to the parent at the end
 * other than SIGCHLD.
 */
#include <arch/process.h>

#include "kernel/proc/process.h"
#include "mm/space/vm.h"

struct clone_arguments { /* as clone3(2) has them */
	u64 flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	u64 more[8]; /* set_tid, cgroup ...: what a newer program may ask for is not there */
};

static int check_arguments(const struct clone_arguments *arguments)
{
	const u64 thread = CLONE_THREAD | CLONE_SIGHAND | CLONE_FILES | CLONE_FS;
	u64 flags = arguments->flags, asked = flags & thread;

#ifdef CONFIG_MOUNT_NS
	if ((flags & CLONE_NEWNS) && !(flags & CLONE_FS)) {
		if (!capable(current->cred))
			return -EPERM;
		flags &= ~(u64)CLONE_NEWNS;
	}
#endif
	if (asked && (asked != thread || !(flags & CLONE_VM) || (flags & CLONE_VFORK)))
		return -EINVAL;
	if (flags & (CLONE_NEW_SPACES | CLONE_PIDFD | CLONE_PTRACE | CLONE_PARENT) || flags >> 32)
		return -EINVAL;
	if (!(flags & CLONE_THREAD) && arguments->exit_signal != SIGCHLD)
		return -EINVAL;
	if ((flags & CLONE_SETTLS) && arguments->tls >= USER_TOP)
		return -EPERM; /* the register takes no such address */
	return 0;
}

/* RLIMIT_NPROC: the threads of this user, and the processes that nobody has waited for. */
static int check_current_limit(void)
{
	uid_t uid = current->cred->uid;
	u64 limit = current_limit(RLIMIT_NPROC), count = 0;
	struct process *process;
	struct task *task;

	if (uid == 0 || capable(current->cred) || limit >= max_tasks)
		return 0;
	guard(spinlock_irq, &process_lock);
	list_for_each_entry(process, &process_list, all_link) {
		count += list_empty(&process->threads) && process_cred(process)->uid == uid;
		list_for_each_entry(task, &process->threads, thread_link)
			count += task->real_cred->uid == uid;
	}
	return count < limit ? 0 : -EAGAIN;
}

/* Memory, files, working directory; 0 or -ENOMEM with what was made hung on @child. */
static int copy_parts(struct task *child, u64 flags)
{
	struct task *parent = current;

	if (flags & CLONE_THREAD) {
		child->fs = parent->fs;
		child->files = parent->files;
		fs_context_get(child->fs);
		file_table_get(child->files);
	} else {
		child->fs = fs_context_fork(parent->fs);
		child->files = file_table_fork(parent->files);
	}
	if (flags & CLONE_VM) {
		child->mm = parent->mm;
		atomic_inc(&child->mm->users);
	} else {
		child->mm = mm_fork(parent->mm);
	}
	if (!child->fs || !child->files || !child->mm)
		return -ENOMEM;
#ifdef CONFIG_MOUNT_NS
	if (flags & CLONE_NEWNS)
		TRY(namespace_copy(child->fs));
#endif
	child->mmu = &child->mm->mmu;
	child->signals->blocked = child->signals->saved_blocked = parent->signals->blocked;
	if (!(flags & CLONE_VM) || (flags & CLONE_VFORK))
		child->signals->stack = parent->signals->stack;
	else
		child->signals->stack.flags = SS_DISABLE;
	return 0;
}

/* The child, looked at by pid under the lock, may have been waited for by another thread. */
static bool vfork_is_over(pid_t pid)
{
	guard(spinlock_irq, &process_lock);

	const struct process *child = process_find(pid);

	return !child || !child->thread_count || !child->vforked || fatal_signal_pending(current);
}

static s64 do_clone(const struct clone_arguments *arguments)
{
	u64 flags = arguments->flags;

	TRY(check_arguments(arguments));
	TRY(check_current_limit());

	struct task *child = TRY_PTR(task_allocate(current->comm));

	child->cred = child->real_cred = get_cred(current->cred);

	struct process *process =
		flags & CLONE_THREAD ? current->process : process_allocate(current->process);
	int error = process ? copy_parts(child, flags) : -ENOMEM;

	if (!error) {
		arch_prepare_fork(child, arguments->stack + arguments->stack_size,
				  flags & CLONE_SETTLS, arguments->tls);
		if (flags & CLONE_CHILD_CLEARTID)
			child->clear_child_tid = (int *)arguments->child_tid;
		if (flags & CLONE_CHILD_SETTID) {
			child->set_child_tid = (int *)arguments->child_tid;
			child->pending |= TASK_PENDING_START;
		}
		if (flags & CLONE_VFORK)
			process->vforked = true;
		error = process_link_task(process, child);
	}
	if (error) {
		if (process && process != current->process)
			process_free(process);
		process_parts_put(&(struct process_parts){child->mm, child->files, child->fs});
		put_cred(child->cred);
		task_free(child);
		return error;
	}

	pid_t pid = child->pid;

	/* as in Linux, a bad address is the program's own affair */
	if (flags & CLONE_PARENT_SETTID)
		(void)put_user(pid, (int *)arguments->parent_tid);
	wake_up_task(child);
	if (flags & CLONE_VFORK)
		(void)__wait_event(current->process->wait_children, vfork_is_over(pid),
				   TASK_KILLABLE, schedule());
	return pid;
}

/* ---- the calls ------------------------------------------------------------------------------- */

s64 sys_fork(void)
{
	return sys_clone(SIGCHLD, 0, NULL, NULL, 0);
}

s64 sys_vfork(void)
{
	return sys_clone(CLONE_VM | CLONE_VFORK | SIGCHLD, 0, NULL, NULL, 0);
}

s64 sys_clone(u64 flags, u64 stack, int *parent_tid, int *child_tid, u64 tls)
{
	return do_clone(&(struct clone_arguments){
		.flags = (flags & 0xffffffff) & ~(u64)CLONE_SIGNAL_MASK,
		.exit_signal = flags & CLONE_SIGNAL_MASK,
		.stack = stack,
		.tls = tls,
		.parent_tid = (u64)parent_tid,
		.child_tid = (u64)child_tid,
	});
}

s64 sys_clone3(const void *user_arguments, size_t size)
{
	struct clone_arguments given = {0};

	if (size > sizeof(given))
		return -E2BIG;
	if (size < offsetof(struct clone_arguments, more))
		return -EINVAL;
	TRY(read_user(&given, user_arguments, size));
	for (size_t i = 0; i < ARRAY_SIZE(given.more); i++)
		if (given.more[i])
			return -E2BIG;
	if (given.flags & (CLONE_SIGNAL_MASK | CLONE_DETACHED) ||
	    !given.stack != !given.stack_size || !access_ok(given.stack, given.stack_size) ||
	    ((given.flags & CLONE_THREAD) && given.exit_signal))
		return -EINVAL;
	return do_clone(&given);
}
