/*
 * info.c - what /proc shows of processes and the machine (fs/proc/process_info.h).
 *
 * Everything is copied, or referenced, under process_lock: a task's mm, files, fs and cred are
 * replaced only under it as well.
 */
#include "fs/proc/process_info.h"

#include "kernel/drivers/tty.h"
#include "kernel/proc/process.h"
#include "mm/vm.h"

/* process_lock held: the thread @pid, and its process; the first thread, or NULL for a zombie, if
 * @pid is a process. */
static struct task *find(pid_t pid, struct process **process)
{
	struct task *task = task_find(pid);

	*process = task ? task->process : process_find(pid);
	if (!task && *process && !list_empty(&(*process)->threads))
		task = main_thread(*process);
	return task;
}

int process_info(pid_t pid, struct process_info *info)
{
	guard(spinlock_irq, &process_lock);

	struct process *process;
	const struct task *task = find(pid, &process);
	const struct mm *mm = task ? task->mm : NULL;

	if (!process)
		return -ESRCH;
	*info = (struct process_info){
		.pid = pid,
		.tgid = process->pid,
		.ppid = process->parent_pid,
		.pgrp = process->group,
		.session = process->session,
		.state = !task		    ? 'Z'
			 : process->stopped ? 'T'
					    : "RSDDTX"[task->state], /* as enum task_state */
		.threads = process->thread_count,
		.nice = process->nice,
		.times = process_times(process),
		.children = process->children_times,
		.start_ns = process->start_ns,
		.exit_signal = process->exit_signal,
		.cred = *process_cred(process),
	};
	info->tty = (int)tty_of_session(info->session, &info->foreground);
	memcpy(info->limits, process->limits, sizeof(info->limits));
	memcpy(info->comm, task ? task->comm : process->comm, sizeof(info->comm));
	if (!task)
		return 0;
	info->cpu = task->cpu;
	info->umask = task->fs ? task->fs->umask : 0;
	info->signals_pending = signals_pending(process, task);
	info->signals_blocked = task->signals->blocked;
	for (int signo = 1; signo <= SIGNAL_COUNT; signo++) {
		u64 handler = signal_handler(process, signo);

		info->signals_ignored |= handler == SIG_IGN ? sigmask(signo) : 0;
		info->signals_caught |= handler > SIG_IGN ? sigmask(signo) : 0;
	}
	if (mm) {
		info->virtual_bytes = mm->total_pages * PAGE_SIZE;
		info->resident_bytes = mm->resident_pages * PAGE_SIZE;
		info->file_bytes = mm->file_pages * PAGE_SIZE;
		info->code_bytes = mm->code_end - mm->code_start;
		info->data_bytes = mm->data_pages * PAGE_SIZE;
		info->stack_start = mm->stack_top;
	}
	return 0;
}

pid_t process_next(pid_t from)
{
	struct process *process;
	pid_t best = 0;

	guard(spinlock_irq, &process_lock);
	list_for_each_entry(process, &process_list, all_link)
		if (process->pid >= from && (!best || process->pid < best))
			best = process->pid;
	return best;
}

int thread_next(pid_t pid, int from)
{
	struct task *task;
	int best = -ENOENT;

	guard(spinlock_irq, &process_lock);

	struct process *process = process_find(pid);

	if (!process)
		return -ENOENT;
	list_for_each_entry(task, &process->threads, thread_link)
		if (task->pid >= from && (best < 0 || task->pid < best))
			best = task->pid;
	return best;
}

bool process_exists(pid_t pid, uid_t *uid, gid_t *gid)
{
	struct process *process;

	guard(spinlock_irq, &process_lock);
	find(pid, &process);
	if (process) {
		*uid = process_cred(process)->euid;
		*gid = process_cred(process)->egid;
	}
	return process;
}

struct mm *process_mm(pid_t pid)
{
	struct process *process;

	guard(spinlock_irq, &process_lock);

	struct task *task = find(pid, &process);

	if (!task || !task->mm)
		return NULL;
	atomic_inc(&task->mm->users);
	return task->mm;
}

struct file_table *process_files(pid_t pid)
{
	struct process *process;

	guard(spinlock_irq, &process_lock);

	struct task *task = find(pid, &process);

	if (!task || !task->files)
		return NULL;
	file_table_get(task->files);
	return task->files;
}

struct fs_context *process_fs_context(pid_t pid)
{
	struct process *process;

	guard(spinlock_irq, &process_lock);

	struct task *task = find(pid, &process);

	if (!task || !task->fs)
		return NULL;
	fs_context_get(task->fs);
	return task->fs;
}

int process_may_inspect(pid_t pid)
{
	struct process *process;

	guard(spinlock_irq, &process_lock);

	const struct task *task = find(pid, &process);

	if (!task || !task->cred)
		return -ESRCH;

	const struct cred *mine = current->cred, *theirs = task->cred;
	bool same = mine->fsuid == theirs->uid && mine->fsuid == theirs->euid &&
		    mine->fsuid == theirs->suid && mine->fsgid == theirs->gid &&
		    mine->fsgid == theirs->egid && mine->fsgid == theirs->sgid;

	return capable(mine) || process == current->process || (same && !process->not_dumpable)
		       ? 0
		       : -EACCES;
}

/* Copy from the page that @address is in, which is there; false if it is not. */
static bool copy_present(struct mm *mm, u64 address, void *to, size_t n)
{
	guard(spinlock, &mm->page_table_lock);

	const pte_t *slot = mmu_slot(&mm->mmu, address, false);

	if (!slot || !pte_present(*slot))
		return false;
	memcpy(to, (u8 *)phys_to_virt(pte_page(*slot)) + address % PAGE_SIZE, n);
	return true;
}

size_t process_read_memory(struct mm *mm, u64 address, void *to, size_t n)
{
	u64 start = address, end = min(address + n, (u64)USER_TOP), piece;

	for (; address < end; address += piece, to = (u8 *)to + piece) {
		piece = min(end - address, PAGE_SIZE - address % PAGE_SIZE);
		if (!copy_present(mm, address, to, piece) &&
		    (mm_fault(mm, address, 0) || !copy_present(mm, address, to, piece)))
			break;
	}
	return address - start;
}

/* ---- the machine ----------------------------------------------------------------------------- */

#define LOAD_PERIOD_NS (5 * NSEC_PER_SEC)

static struct timer load_timer;
static u64 loads[3]; /* << 16 */

void system_info(struct system_info *info)
{
	*info = (struct system_info){.uptime_ns = ktime_ns(),
				     .tasks = task_count,
				     .last_pid = last_pid,
				     .forks = total_forks};
	memcpy(info->load, loads, sizeof(loads));
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) {
		struct cpu_info one;

		system_cpu_info(cpu, &one);
		info->idle_ns += one.idle_ns;
		info->context_switches += one.switches;
		info->runnable += one.runnable;
		info->interrupts += cpus[cpu].interrupts;
	}
}

/* Exponential decay over 1, 5 and 15 minutes, sampled every 5 seconds: factors exp(-5 s/60 s) ...
 * << 16. */
static void sample_load(void *unused)
{
	static const u64 decay[3] = {60296, 64453, 65173};
	struct system_info info;

	(void)unused;
	system_info(&info);
	for (int i = 0; i < 3; i++)
		loads[i] = (loads[i] * decay[i] >> 16) + info.runnable * (65536 - decay[i]);
	timer_start(&load_timer, load_timer.deadline_ns + LOAD_PERIOD_NS);
}

void load_init(void)
{
	timer_init(&load_timer, sample_load, NULL);
	timer_start(&load_timer, ktime_ns() + LOAD_PERIOD_NS);
}
