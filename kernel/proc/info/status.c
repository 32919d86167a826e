/*
 * status.c - what /proc/PID and /proc/PID/task/TID tell in numbers and words. See status.h.
 *
 * What the kernel does not count is not told at all; of a field that proc(5) has a place for it is
 * 0.
 */
#include "kernel/proc/info/status.h"

#include "kernel/proc/process.h"
#include "mm/space/swap_hooks.h"

struct task *task_or_process(pid_t pid, struct process **process)
{
	struct task *task = task_find(pid);

	lockdep_assert_held(&process_lock);
	*process = task ? task->process : process_find(pid);
	if (!task && *process && !list_empty(&(*process)->threads))
		task = main_thread(*process);
	return task;
}

bool may_inspect(const struct process *process)
{
	const struct cred *mine = current->cred, *theirs = process_cred(process);
	bool same = mine->euid == theirs->uid && mine->euid == theirs->euid &&
		    mine->euid == theirs->suid && mine->egid == theirs->gid &&
		    mine->egid == theirs->egid && mine->egid == theirs->sgid;

	lockdep_assert_held(&process_lock);
	/* Who reads for another, with his rights, is not himself. */
	return capable(mine) || (process == current->process && mine == current->real_cred) ||
	       (same && !process->not_dumpable);
}

#define PRINT_MAX 2048 /* of the functions below: a few numbers, and 32 groups */

struct view { /* of a process, or of one of its threads */
	pid_t pid;
	const struct process *process;
	const struct task *task; /* NULL: a zombie */
	const struct mm *mm;	 /* all zero: none */
	const char *name, *state;
	u64 pending, blocked, ignored, caught; /* signals; pending: for the thread */
};

static const char *state_of(const struct process *process, const struct task *task)
{
	static const char *const states[] = {
		[TASK_RUNNING] = "R (running)",
		[TASK_INTERRUPTIBLE] = "S (sleeping)",
		[TASK_UNINTERRUPTIBLE] = "D (disk sleep)",
		[TASK_KILLABLE] = "D (disk sleep)",
		[TASK_STOPPED] = "T (stopped)",
		[TASK_DEAD] = "X (dead)",
	};

	if (!task)
		return "Z (zombie)";
	return process->stopped ? "T (stopped)" : states[task->state];
}

void process_show(struct text *out, const struct proc_entry *entry)
{
	static const struct mm no_memory;
	print_function *print = entry->node->data;
	struct process *process;

	if (!text_reserve(out, PRINT_MAX)) /* nothing may be allocated under the lock */
		return;
	guard(spinlock_irq, &process_lock);
	const struct task *task = task_or_process(entry->pid, &process);
	if (!process) {
		out->error = -ESRCH;
		return;
	}
	struct view view = {
		.pid = entry->pid,
		.process = process,
		.task = task,
		.mm = &no_memory,
		.name = process->comm,
		.state = state_of(process, task),
	};
	if (task) {
		view.name = task->comm;
		view.pending = task->signals->pending;
		view.blocked = task->signals->blocked;
		if (task->mm)
			view.mm = task->mm;
	}
	for (int signo = 1; task && signo <= SIGNAL_COUNT; signo++) {
		u64 handler = signal_handler(process, signo);

		if (handler == SIG_IGN)
			view.ignored |= sigmask(signo);
		else if (handler > SIG_IGN)
			view.caught |= sigmask(signo);
	}
	print(out, &view);
}

/* The 52 fields of proc(5); what does not exist here is 0. */
void print_stat(struct text *out, const struct view *view)
{
	const struct process *p = view->process;
	const struct cpu_times own = process_times(p), *children = &p->children_times;
	pid_t foreground = -1;
	u32 tty = terminal ? terminal->of_session(p->session, &foreground) : 0;

	lockdep_assert_held(&process_lock);
	text_printf(out, "%d (%s) %c %d %d %d %u %d 0 ", view->pid, view->name, *view->state,
		    p->parent_pid, p->group, p->session, tty, foreground);
	text_printf(out, "%llu %llu %llu 0 %llu %llu %llu %llu %d %d %u 0 ", own.minor_faults,
		    children->minor_faults, own.major_faults, proc_ticks(own.user_ns),
		    proc_ticks(own.system_ns), proc_ticks(children->user_ns),
		    proc_ticks(children->system_ns), 20 + p->nice, p->nice, p->thread_count);
	text_printf(out, "%llu %llu %llu %llu 0 0 %llu 0 0 ", proc_ticks(p->start_ns),
		    view->mm->total_pages * PAGE_SIZE, view->mm->resident_pages,
		    p->limits[RLIMIT_RSS].soft, may_inspect(p) ? view->mm->stack_top : 0);
	text_printf(out, "%llu %llu %llu %llu 0 0 0 %d %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		    view->pending, view->blocked, view->ignored, view->caught, SIGCHLD,
		    view->task ? view->task->cpu : 0);
}

void print_statm(struct text *out, const struct view *view)
{
	const struct mm *mm = view->mm;

	text_printf(out, "%llu %llu %llu 0 0 %llu 0\n", mm->total_pages, mm->resident_pages,
		    mm->file_pages, mm->data_pages);
}

static void print_status_names(struct text *out, const struct view *view)
{
	const struct process *p = view->process;
	const struct cred *cred = process_cred(p);
	const struct task *task = view->task;

	lockdep_assert_held(&process_lock);
	text_printf(out, "Name:\t");
	text_escaped(out, view->name, "\n\\");
	text_printf(out, "\nUmask:\t%04o\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\n",
		    task && task->fs ? task->fs->umask : 0, view->state, p->pid, view->pid);
	text_printf(out, "PPid:\t%d\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n",
		    p->parent_pid, cred->uid, cred->euid, cred->suid, cred->euid, cred->gid,
		    cred->egid, cred->sgid, cred->egid);
	text_printf(out, "FDSize:\t%u\nGroups:\t",
		    task && task->files ? file_table_size(task->files) : 0);
	for (unsigned i = 0; i < cred->group_count; i++)
		text_printf(out, "%u ", cred->groups[i]);
	text_printf(out, "\nNStgid:\t%d\nNSpid:\t%d\nNSpgid:\t%d\nNSsid:\t%d\n", p->pid, view->pid,
		    p->group, p->session);
}

/* What is not told is not counted: peaks, shared pages by kind, stack, program, page tables. The
 * zeros are what there is none of: huge pages, dumps; and locked pages, which are not counted. */
static void print_status_memory(struct text *out, const struct mm *mm)
{
	text_printf(out, "VmSize:\t%8llu kB\nVmLck:\t%8u kB\nVmPin:\t%8u kB\nVmRSS:\t%8llu kB\n",
		    mm->total_pages * 4, 0, 0, mm->resident_pages * 4);
	text_printf(out, "RssAnon:\t%8llu kB\nVmData:\t%8llu kB\nVmSwap:\t%8llu kB\n",
		    (mm->resident_pages - mm->file_pages) * 4, mm->data_pages * 4,
		    mm_swapped_pages(mm) * 4);
	text_printf(out, "HugetlbPages:\t%8u kB\nCoreDumping:\t0\nTHP_enabled:\t0\n", 0);
}

void print_status(struct text *out, const struct view *view)
{
	const struct process *p = view->process;
	unsigned long long all = (2ULL << CAP_LAST_CAP) - 1;
	unsigned long long capabilities = process_cred(p)->euid ? 0 : all;

	lockdep_assert_held(&process_lock);
	print_status_names(out, view);
	if (view->mm->total_pages)
		print_status_memory(out, view->mm);
	text_printf(out,
		    "Threads:\t%u\nSigPnd:\t%016llx\nShdPnd:\t%016llx\nSigBlk:\t%016llx\n"
		    "SigIgn:\t%016llx\nSigCgt:\t%016llx\n",
		    p->thread_count, view->pending, p->pending, view->blocked, view->ignored,
		    view->caught);
	text_printf(out,
		    "CapInh:\t%016llx\nCapPrm:\t%016llx\nCapEff:\t%016llx\nCapBnd:\t%016llx\n"
		    "CapAmb:\t%016llx\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n",
		    0ULL, capabilities, capabilities, all, 0ULL);
	text_printf(out, "Cpus_allowed:\t%x\nCpus_allowed_list:\t0", (1u << nr_cpus) - 1);
	if (nr_cpus > 1)
		text_printf(out, "-%u", nr_cpus - 1);
	text_printf(out, "\n");
}

void print_comm(struct text *out, const struct view *view)
{
	text_printf(out, "%s\n", view->name);
}
