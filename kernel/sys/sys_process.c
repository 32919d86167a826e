/*
 * sys_process.c - processes: fork, execve, exit, wait, limits, usage, prctl.
 */
#include <arch/process.h>

#include "fs/vfs.h"
#include "kernel/core/random.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/futex.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"
#include "kernel/sys/user_types.h"
#include "mm/vm.h"

#define CLONE_SIGNAL_MASK 0xff

s64 sys_fork(void)
{
	struct clone_arguments arguments = {.exit_signal = SIGCHLD};

	return process_clone(&arguments);
}

s64 sys_vfork(void)
{
	struct clone_arguments arguments = {.flags = CLONE_VM | CLONE_VFORK,
					    .exit_signal = SIGCHLD};

	return process_clone(&arguments);
}

s64 sys_clone(u64 flags, u64 stack, int *parent_tid, int *child_tid, u64 tls)
{
	struct clone_arguments arguments = {
		.flags = (flags & 0xffffffff) & ~(u64)CLONE_SIGNAL_MASK,
		.exit_signal = (int)(flags & CLONE_SIGNAL_MASK),
		.stack = stack,
		.tls = tls,
		.parent_tid = parent_tid,
		.child_tid = child_tid,
	};

	if (arguments.exit_signal > SIGNAL_COUNT)
		return -EINVAL;
	return process_clone(&arguments);
}

#define CLONE_ARGUMENTS_V0 64 /* bytes of the first version of struct clone_args */

/* clone_args as in Linux; what lies beyond what we know must be zero. */
s64 sys_clone3(const void *user_arguments, size_t size)
{
	struct {
		u64 flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} given;
	struct clone_arguments arguments;
	u64 rest;

	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size < CLONE_ARGUMENTS_V0)
		return -EINVAL;
	if (copy_from_user(&given, user_arguments, sizeof(given)))
		return -EFAULT;
	for (size_t at = sizeof(given); at + sizeof(rest) <= size; at += sizeof(rest)) {
		if (get_user(rest, (const u64 *)((const u8 *)user_arguments + at)))
			return -EFAULT;
		if (rest) /* set_tid, cgroup */
			return -E2BIG;
	}
	if (given.flags & (CLONE_SIGNAL_MASK | CLONE_DETACHED) ||
	    given.exit_signal > SIGNAL_COUNT || !given.stack != !given.stack_size ||
	    !access_ok(given.stack, given.stack_size) ||
	    ((given.flags & CLONE_THREAD) && given.exit_signal))
		return -EINVAL;
	arguments = (struct clone_arguments){
		.flags = given.flags,
		.exit_signal = (int)given.exit_signal,
		.stack = given.stack + given.stack_size,
		.tls = given.tls,
		.parent_tid = (int *)given.parent_tid,
		.child_tid = (int *)given.child_tid,
	};
	return process_clone(&arguments);
}

s64 sys_execve(const char *name, const u64 *argv, const u64 *envp)
{
	return process_exec(name, argv, envp);
}

s64 sys_exit(int status)
{
	process_exit((status & 0xff) << 8);
}

s64 sys_exit_group(int status)
{
	process_exit_group((status & 0xff) << 8);
}

/* ---- waiting and usage ----------------------------------------------------------------------- */

s64 put_rusage(void *to, const struct cpu_times *times, u64 faults)
{
	struct rusage usage;

	if (!to)
		return 0;
	memset(&usage, 0, sizeof(usage));
	usage.user = ns_to_timeval(times->user_ns);
	usage.system = ns_to_timeval(times->system_ns);
	usage.minflt = (s64)faults;
	return copy_to_user(to, &usage, sizeof(usage)) ? -EFAULT : 0;
}

s64 sys_wait4(int pid, int *user_status, int options, void *usage)
{
	struct cpu_times times;
	struct siginfo info;
	int status;
	s64 result;

	if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WALL | (int)__WCLONE))
		return -EINVAL;
	if (pid == (int)0x80000000)
		return -ESRCH;
	result = process_wait(pid, options | WEXITED, &status, &info, &times);
	if (result <= 0)
		return result;
	if (user_status && put_user(status, user_status))
		return -EFAULT;
	return put_rusage(usage, &times, 0) ? -EFAULT : result;
}

s64 sys_waitid(int kind, int id, void *user_info, int options, void *usage)
{
	enum { P_ALL, P_PID, P_PGID };
	struct cpu_times times = {0};
	struct siginfo info = {0};
	pid_t pid = -1;
	int status;
	s64 result;

	if ((options & ~(WNOHANG | WSTOPPED | WEXITED | WCONTINUED | WNOWAIT | __WALL |
			 __WNOTHREAD | (int)__WCLONE)) ||
	    !(options & (WSTOPPED | WEXITED | WCONTINUED)))
		return -EINVAL;
	if (kind == P_PID && id > 0)
		pid = id;
	else if (kind == P_PGID && id >= 0)
		pid = id ? -id : 0;
	else if (kind != P_ALL)
		return -EINVAL;
	result = process_wait(pid, options, &status, &info, &times);
	if (result < 0)
		return result;
	if (!result)
		info = (struct siginfo){0};
	if (user_info && copy_to_user(user_info, &info, sizeof(info)))
		return -EFAULT;
	return result ? put_rusage(usage, &times, 0) : 0;
}

s64 sys_getrusage(int who, void *usage)
{
	enum { RUSAGE_SELF = 0, RUSAGE_CHILDREN = -1, RUSAGE_THREAD = 1 };
	struct process *process = current->process;
	struct cpu_times times;
	unsigned long flags;

	if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD)
		return -EINVAL;
	if (!usage)
		return -EFAULT;
	spin_lock_irqsave(&process_lock, flags);
	if (who == RUSAGE_SELF)
		process_times(process, &times);
	else if (who == RUSAGE_THREAD)
		task_times(current, &times);
	else
		times = process->children_times;
	spin_unlock_irqrestore(&process_lock, flags);
	return put_rusage(usage, &times, 0);
}

s64 sys_times(void *to)
{
	struct process *process = current->process;
	struct cpu_times own, children;
	unsigned long flags;
	s64 ticks[4];

	spin_lock_irqsave(&process_lock, flags);
	process_times(process, &own);
	children = process->children_times;
	spin_unlock_irqrestore(&process_lock, flags);
	ticks[0] = (s64)(own.user_ns / TICK_NS);
	ticks[1] = (s64)(own.system_ns / TICK_NS);
	ticks[2] = (s64)(children.user_ns / TICK_NS);
	ticks[3] = (s64)(children.system_ns / TICK_NS);
	if (to && copy_to_user(to, ticks, sizeof(ticks)))
		return -EFAULT;
	return (s64)(ktime_ns() / TICK_NS);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* process_lock held. */
static int change_limit(struct process *process, u32 kind, const struct rlimit *new)
{
	struct rlimit *limit = &process->limits[kind];
	struct task *task;

	if (new->soft > new->hard)
		return -EINVAL;
	if (new->hard > limit->hard && !capable(current->cred))
		return -EPERM;
	if (kind == RLIMIT_NOFILE && new->hard > FILE_TABLE_MAX)
		return -EPERM;
	*limit = *new;
	/* This one is kept where it is asked for as well. */
	list_for_each_entry(task, &process->threads, thread_link) {
		if (kind == RLIMIT_NOFILE && task->files)
			file_table_set_limit(task->files, (u32)new->soft);
	}
	return 0;
}

s64 sys_prlimit64(int pid, u32 kind, const void *user_new, void *user_old)
{
	struct rlimit new, old;
	struct process *process;
	unsigned long flags;
	s64 error = -ESRCH;

	if (kind >= RLIMIT_COUNT)
		return -EINVAL;
	if (user_new && copy_from_user(&new, user_new, sizeof(new)))
		return -EFAULT;
	spin_lock_irqsave(&process_lock, flags);
	process = pid ? process_find(pid) : current->process;
	if (process && process != current->process && !capable(current->cred)) {
		error = -EPERM;
	} else if (process) {
		old = process->limits[kind];
		error = user_new ? change_limit(process, kind, &new) : 0;
	}
	spin_unlock_irqrestore(&process_lock, flags);
	if (!error && user_old && copy_to_user(user_old, &old, sizeof(old)))
		error = -EFAULT;
	return error;
}

s64 sys_getrlimit(u32 kind, void *limit)
{
	return limit		     ? sys_prlimit64(0, kind, NULL, limit)
	       : kind < RLIMIT_COUNT ? -EFAULT
				     : -EINVAL;
}

s64 sys_setrlimit(u32 kind, const void *limit)
{
	struct rlimit new;

	if (copy_from_user(&new, limit, sizeof(new)))
		return -EFAULT;
	return sys_prlimit64(0, kind, limit, NULL);
}

/* ---- small things a process asks about itself ------------------------------------------------ */

#define PR_SET_PDEATHSIG 1
#define PR_GET_PDEATHSIG 2
#define PR_GET_DUMPABLE 3
#define PR_SET_DUMPABLE 4
#define PR_SET_NAME 15
#define PR_GET_NAME 16
#define PR_SET_NO_NEW_PRIVS 38
#define PR_GET_NO_NEW_PRIVS 39

s64 sys_prctl(int option, u64 a, u64 b, u64 c, u64 d)
{
	struct process *process = current->process;
	char name[16] = "";
	s64 length;

	switch (option) {
	case PR_SET_NAME:
		length = strncpy_from_user(name, (const char *)a, sizeof(name) - 1);
		if (length < 0)
			return length;
		name[length] = 0;
		memcpy(current->comm, name, sizeof(name));
		return 0;
	case PR_GET_NAME:
		memcpy(name, current->comm, sizeof(name));
		return copy_to_user((void *)a, name, sizeof(name)) ? -EFAULT : 0;
	case PR_SET_PDEATHSIG:
		if (a > SIGNAL_COUNT)
			return -EINVAL;
		process->parent_death_signal = (int)a;
		return 0;
	case PR_GET_PDEATHSIG:
		return put_user(process->parent_death_signal, (int *)a);
	case PR_SET_DUMPABLE:
		if (a > 1)
			return -EINVAL;
		process->not_dumpable = !a;
		return 0;
	case PR_GET_DUMPABLE:
		return !process->not_dumpable;
	case PR_SET_NO_NEW_PRIVS:
		if (a != 1 || b || c || d)
			return -EINVAL;
		process->no_new_privileges = true;
		return 0;
	case PR_GET_NO_NEW_PRIVS:
		return a || b || c || d ? -EINVAL : process->no_new_privileges;
	}
	return -EINVAL;
}

s64 sys_arch_prctl(int code, u64 address)
{
	return arch_prctl(code, address);
}

s64 sys_set_tid_address(int *address)
{
	current->clear_child_tid = address;
	return current->pid;
}

s64 sys_rseq(u64 area, u32 length, int flags, u32 signature)
{
	return rseq_register(area, length, flags, signature);
}

/* The list itself is looked at when the thread ends. */
s64 sys_set_robust_list(u64 head, size_t size)
{
	if (size != ROBUST_LIST_HEAD_SIZE)
		return -EINVAL;
	current->robust_list = head;
	return 0;
}

s64 sys_get_robust_list(int pid, u64 *head, size_t *size)
{
	struct task *task;
	unsigned long flags;
	u64 value = 0;

	spin_lock_irqsave(&process_lock, flags);
	task = pid ? task_find(pid) : current;
	if (task && (task->process == current->process || capable(current->cred)))
		value = task->robust_list;
	else if (task)
		task = ERR_PTR(-EPERM);
	spin_unlock_irqrestore(&process_lock, flags);
	if (!task || IS_ERR(task))
		return task ? PTR_ERR(task) : -ESRCH;
	return put_user((size_t)ROBUST_LIST_HEAD_SIZE, size) || put_user(value, head) ? -EFAULT : 0;
}

s64 sys_futex(u32 *address, int operation, u32 value, const void *timeout, u32 *address2,
	      u32 value3)
{
	return futex(address, operation, value, timeout, address2, value3);
}

s64 sys_sched_yield(void)
{
	yield();
	return 0;
}

s64 sys_sched_getaffinity(int pid, u32 size, u64 *mask)
{
	struct task *task;
	unsigned long flags;

	if (size < sizeof(u64) || size % sizeof(u64))
		return -EINVAL;
	spin_lock_irqsave(&process_lock, flags);
	task = pid ? task_find(pid) : current;
	spin_unlock_irqrestore(&process_lock, flags);
	if (!task)
		return -ESRCH;
	return put_user((1ULL << nr_cpus) - 1, mask) ? -EFAULT : (s64)sizeof(u64);
}

s64 sys_getcpu(u32 *cpu, u32 *node, void *unused)
{
	(void)unused;
	if (cpu && put_user((u32)cpu_id(), cpu))
		return -EFAULT;
	return node && put_user(0u, node) ? -EFAULT : 0;
}

/* ---- nice values: how long a process's time slices are
 * ---------------------------------------------------------- */

enum { PRIO_PROCESS, PRIO_PGRP, PRIO_USER };

static bool is_meant(const struct process *process, int which, int who)
{
	const struct process *me = current->process;

	if (process->zombie)
		return false;
	if (which == PRIO_PROCESS)
		return process->pid == (who ? who : me->pid);
	if (which == PRIO_PGRP)
		return process->group == (who ? who : me->group);
	return process_uid(process) == (who ? (uid_t)who : current->cred->uid);
}

static s64 set_nice(struct process *process, int nice)
{
	const struct cred *mine = current->cred;
	uid_t uid = process_uid(process);

	if (!capable(mine) && uid != mine->uid && uid != mine->euid)
		return -EPERM;
	if (nice < process->nice && !capable(mine))
		return -EACCES;
	process->nice = nice;
	return 0;
}

s64 sys_setpriority(int which, int who, int nice)
{
	struct process *process;
	unsigned long flags;
	s64 result = -ESRCH, error;

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	nice = max(min(nice, 19), -20);
	spin_lock_irqsave(&process_lock, flags);
	list_for_each_entry(process, &process_list, all_link) {
		if (!is_meant(process, which, who))
			continue;
		error = set_nice(process, nice);
		if (error || result == -ESRCH)
			result = error;
	}
	spin_unlock_irqrestore(&process_lock, flags);
	return result;
}

/* The best of those meant, as 20 - nice: 1 .. 40. */
s64 sys_getpriority(int which, int who)
{
	struct process *process;
	unsigned long flags;
	s64 result = -ESRCH;

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	spin_lock_irqsave(&process_lock, flags);
	list_for_each_entry(process, &process_list, all_link) {
		if (is_meant(process, which, who))
			result = max(result, (s64)(20 - process->nice));
	}
	spin_unlock_irqrestore(&process_lock, flags);
	return result;
}

/* The one privilege there is, in the shape of capabilities: all or none. */
s64 sys_capget(u32 *user_header, u32 *data)
{
	enum { VERSION_1 = 0x19980330, VERSION_2 = 0x20071026, VERSION_3 = 0x20080522 };
	u32 all = capable(current->cred) ? ~0u : 0, header[2];
	/* effective, permitted, inheritable, twice */
	u32 sets[6] = {all, all, 0, all & 0x1ff, all & 0x1ff, 0};

	if (copy_from_user(header, user_header, sizeof(header)))
		return -EFAULT;
	if (header[0] != VERSION_1 && header[0] != VERSION_2 && header[0] != VERSION_3) {
		if (put_user((u32)VERSION_3, user_header))
			return -EFAULT;
		return data ? -EINVAL : 0;
	}
	if ((int)header[1] < 0)
		return -EINVAL;
	if (header[1] && (pid_t)header[1] != current->pid)
		return -ESRCH; /* of others: not known */
	return copy_to_user(data, sets, header[0] == VERSION_1 ? 12 : 24) ? -EFAULT : 0;
}

s64 sys_getrandom(void *buffer, size_t count, u32 flags)
{
	u8 *to = buffer;
	u8 chunk[256];
	size_t done = 0, n;

	if (flags & ~7u)
		return -EINVAL;
	count = min(count, (size_t)0x1ffffff);
	while (done < count) {
		n = min(count - done, sizeof(chunk));
		get_random_bytes(chunk, n);
		if (copy_to_user(to + done, chunk, n))
			return done ? (s64)done : -EFAULT;
		done += n;
		if (signal_pending(current) && done < count)
			break;
		cond_resched();
	}
	return (s64)done;
}
