/*
 * info.c - what /proc shows of processes and the machine (fs/proc/process_info.h).
 *
 * Everything is copied, or referenced, under process_lock: a task's mm, files, fs and cred are
 * replaced only under it as well.
 */
#include "fs/proc/process_info.h"

#include "kernel/drivers/tty.h"
#include "kernel/proc/process.h"
#include "kernel/proc/scheduler.h"
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

static char state_letter(const struct process *process, const struct task *task)
{
	/* in the order of enum task_state */
	return !task ? 'Z' : process->stopped ? 'T' : "RSDDTX"[task->state];
}

static void fill_memory(struct process_info *info, const struct mm *mm)
{
	info->virtual_bytes = mm->total_pages * PAGE_SIZE;
	info->resident_bytes = mm->resident_pages * PAGE_SIZE;
	info->file_bytes = mm->file_pages * PAGE_SIZE;
	info->code_bytes = mm->code_end - mm->code_start;
	info->data_bytes = mm->data_pages * PAGE_SIZE;
	info->stack_start = mm->stack_top;
}

static void fill_signals(struct process_info *info, const struct process *process,
			 const struct task *task)
{
	u64 handled = process->handled;

	info->signals_pending = signals_pending(process, task);
	info->signals_blocked = task->signals->blocked;
	while (handled) {
		int signo = __builtin_ctzll(handled) + 1;
		u64 handler = signal_handler(process, signo);

		if (handler == SIG_IGN)
			info->signals_ignored |= sigmask(signo);
		else if (handler != SIG_DFL)
			info->signals_caught |= sigmask(signo);
		handled &= handled - 1;
	}
}

static void fill_task(struct process_info *info, const struct process *process,
		      const struct task *task)
{
	memcpy(info->comm, task->comm, sizeof(info->comm));
	info->cpu = task->cpu;
	if (task->mm)
		fill_memory(info, task->mm);
	if (task->fs)
		info->umask = task->fs->umask;
	fill_signals(info, process, task);
}

int process_info(pid_t pid, struct process_info *info)
{
	struct process *process;
	struct cpu_times times;
	struct task *task;

	memset(info, 0, sizeof(*info));
	spin_lock_irq(&process_lock);
	task = find(pid, &process);
	if (!process) {
		spin_unlock_irq(&process_lock);
		return -ESRCH;
	}
	info->pid = pid;
	info->tgid = process->pid;
	info->ppid = process->parent_pid;
	info->pgrp = process->group;
	info->session = process->session;
	info->state = state_letter(process, task);
	info->threads = process->thread_count;
	info->nice = process->nice;
	times = process_times(process);
	info->user_ns = times.user_ns;
	info->system_ns = times.system_ns;
	info->minor_faults = times.minor_faults;
	info->major_faults = times.major_faults;
	info->children_user_ns = process->children_times.user_ns;
	info->children_system_ns = process->children_times.system_ns;
	info->start_ns = process->start_ns;
	info->children_faults = process->children_times.minor_faults;
	memcpy(info->limits, process->limits, sizeof(info->limits));
	info->exit_signal = process->exit_signal;
	memcpy(info->comm, process->comm, sizeof(info->comm));
	info->cred = *process_cred(process);
	if (task)
		fill_task(info, process, task);
	spin_unlock_irq(&process_lock);
	info->tty = (int)tty_of_session(info->session, &info->foreground);
	return 0;
}

pid_t process_next(pid_t from)
{
	struct process *process;
	pid_t best = 0;

	spin_lock_irq(&process_lock);
	list_for_each_entry(process, &process_list, all_link) {
		if (process->pid >= from && (!best || process->pid < best))
			best = process->pid;
	}
	spin_unlock_irq(&process_lock);
	return best;
}

int thread_next(pid_t pid, int from)
{
	struct process *process;
	struct task *task;
	int best = -ENOENT;

	spin_lock_irq(&process_lock);
	process = process_find(pid);
	if (process) {
		list_for_each_entry(task, &process->threads, thread_link) {
			if (task->pid >= from && (best < 0 || task->pid < best))
				best = task->pid;
		}
	}
	spin_unlock_irq(&process_lock);
	return best;
}

bool process_exists(pid_t pid, uid_t *uid, gid_t *gid)
{
	struct process *process;

	spin_lock_irq(&process_lock);
	find(pid, &process);
	if (process) {
		*uid = process_cred(process)->euid;
		*gid = process_cred(process)->egid;
	}
	spin_unlock_irq(&process_lock);
	return process;
}

pid_t process_current(void)
{
	return current->process ? current->process->pid : 0;
}

/* Thread @pid; process_lock is taken, to be dropped by the caller in any case. */
static struct task *lock_thread(pid_t pid)
{
	struct process *process;

	spin_lock_irq(&process_lock);
	return find(pid, &process);
}

struct mm *process_mm(pid_t pid)
{
	struct task *task = lock_thread(pid);
	struct mm *mm = task ? task->mm : NULL;

	if (mm)
		atomic_inc(&mm->users);
	spin_unlock_irq(&process_lock);
	return mm;
}

struct file_table *process_files(pid_t pid)
{
	struct task *task = lock_thread(pid);
	struct file_table *files = task ? task->files : NULL;

	if (files)
		file_table_get(files);
	spin_unlock_irq(&process_lock);
	return files;
}

struct fs_context *process_fs_context(pid_t pid)
{
	struct task *task = lock_thread(pid);
	struct fs_context *fs = task ? task->fs : NULL;

	if (fs)
		fs_context_get(fs);
	spin_unlock_irq(&process_lock);
	return fs;
}

int process_may_inspect(pid_t pid)
{
	const struct cred *mine = current->cred, *theirs;
	struct task *task;
	int error = -ESRCH;

	task = lock_thread(pid);
	if (task && task->cred) {
		theirs = task->cred;
		error = -EACCES;
		if (capable(mine) || task->process == current->process ||
		    (mine->fsuid == theirs->uid && mine->fsuid == theirs->euid &&
		     mine->fsuid == theirs->suid && mine->fsgid == theirs->gid &&
		     mine->fsgid == theirs->egid && mine->fsgid == theirs->sgid &&
		     !task->process->not_dumpable))
			error = 0;
	}
	spin_unlock_irq(&process_lock);
	return error;
}

/* Copy from the page that @address is in, which is there; false if it is not. */
static bool copy_present(struct mm *mm, u64 address, void *to, size_t n)
{
	bool present = false;
	pte_t *slot;

	spin_lock(&mm->page_table_lock);
	slot = mmu_slot(&mm->mmu, address, false);
	if (slot && pte_present(*slot)) {
		memcpy(to, (u8 *)phys_to_virt(pte_page(*slot)) + (address & (PAGE_SIZE - 1)), n);
		present = true;
	}
	spin_unlock(&mm->page_table_lock);
	return present;
}

size_t process_read_memory(struct mm *mm, u64 address, void *to, size_t n)
{
	size_t done = 0, piece;

	while (done < n && address + done < USER_TOP) {
		piece = min(n - done, PAGE_SIZE - ((address + done) & (PAGE_SIZE - 1)));
		if (!copy_present(mm, address + done, (u8 *)to + done, piece)) {
			if (mm_fault(mm, address + done, 0) ||
			    !copy_present(mm, address + done, (u8 *)to + done, piece))
				break;
		}
		done += piece;
	}
	return done;
}

/* ---- the machine ----------------------------------------------------------------------------- */

#define LOAD_PERIOD_NS (5 * NSEC_PER_SEC)

static struct timer load_timer;
static u64 loads[3]; /* << 16 */

static unsigned count_runnable(void)
{
	struct sched_statistics statistics;
	unsigned count = 0;

	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) {
		sched_statistics(cpu, &statistics);
		count += statistics.running;
	}
	return count;
}

/* Exponential decay over 1, 5 and 15 minutes, sampled every 5 seconds: factors exp(-5 s/60 s) ...
 * << 16. */
static void sample_load(void *unused)
{
	static const u64 decay[3] = {60296, 64453, 65173};
	u64 active = (u64)count_runnable() << 16;

	(void)unused;
	for (int i = 0; i < 3; i++)
		loads[i] = (loads[i] * decay[i] + active * (65536 - decay[i])) >> 16;
	timer_start(&load_timer, load_timer.deadline_ns + LOAD_PERIOD_NS);
}

void load_init(void)
{
	timer_init(&load_timer, sample_load, NULL);
	timer_start(&load_timer, ktime_ns() + LOAD_PERIOD_NS);
}

void system_info(struct system_info *info)
{
	struct sched_statistics statistics;

	memset(info, 0, sizeof(*info));
	info->uptime_ns = ktime_ns();
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) {
		sched_statistics(cpu, &statistics);
		info->idle_ns += statistics.idle_ns;
		info->context_switches += statistics.switches;
		info->interrupts += cpus[cpu].interrupts;
	}
	memcpy(info->load, loads, sizeof(loads));
	info->runnable = count_runnable();
	info->tasks = task_count;
	info->last_pid = last_pid;
	info->forks = total_forks;
}

void system_cpu_info(unsigned cpu, struct cpu_info *info)
{
	struct sched_statistics statistics;

	sched_statistics(cpu, &statistics);
	info->user_ns = statistics.user_ns;
	info->system_ns = statistics.system_ns;
	info->idle_ns = statistics.idle_ns;
}
