/*
 * exit.c - the end of a thread and of a process.
 *
 * A thread gives back what it holds, leaves its process, and dies on its last switch (sched.c frees
 * it). The last thread makes the process a zombie: its children go to init, job control is told,
 * the parent gets its exit signal. From then on the struct process belongs to the parent and may
 * vanish at any moment.
 */
#include "fs/vfs.h"
#include "kernel/core/export.h"
#include "kernel/core/jobctl.h"
#include "kernel/core/printk.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/drivers/tty.h"
#include "kernel/proc/init.h"
#include "kernel/proc/itimer.h"
#include "kernel/proc/process.h"
#include "mm/vm.h"

static void clear_child_tid(struct task *task)
{
	u32 *address = (u32 *)task->clear_child_tid;

	task->clear_child_tid = NULL;
	if (!address || !task->mm || atomic_read(&task->mm->users) == 1)
		return; /* nobody is there to look at it */
	if (!put_user(0u, address))
		futex_wake(address, 1, ~0u);
}

static void give_back_parts(struct task *task)
{
	struct file_table *files = task->files;
	struct fs_context *fs = task->fs;
	struct mm *mm = task->mm;
	unsigned long flags;

	spin_lock_irqsave(&process_lock, flags); /* /proc looks at them */
	task->files = NULL;
	task->fs = NULL;
	task->mm = NULL; /* nor may a switch back to us load it again */
	spin_unlock_irqrestore(&process_lock, flags);
	if (files)
		file_table_put(files);
	fs_context_put(fs);
	if (mm)
		mm_put(mm);
}

/* A session's leader ends: its terminal hangs up. Before the lock, since the terminal takes its own
 * first. */
static void leave_session(struct process *process)
{
	if (process->session == process->pid)
		tty_session_ended(process->session);
}

static void exit_status_info(const struct process *process, struct siginfo *info)
{
	int signo = process->exit_code & 0x7f;

	*info = (struct siginfo){
		.signo = SIGCHLD,
		.code = signo ? CLD_KILLED : CLD_EXITED,
		.pid = process->pid,
		.uid = process->zombie_uid,
		.status = signo ? signo : process->exit_code >> 8,
		.utime = (s64)(process->times.user_ns / TICK_NS),
		.stime = (s64)(process->times.system_ns / TICK_NS),
	};
}

/* Tell the parent; true if nobody will wait for this zombie: the parent ignores its children. */
static bool notify_exit(struct process *process)
{
	struct process *parent = process->parent;
	bool ignored = false;
	struct siginfo info;

	if (process->exit_signal == SIGCHLD) {
		ignored = signal_handler(parent, SIGCHLD) == SIG_IGN ||
			  ((parent->handled & sigmask(SIGCHLD)) &&
			   (signal_action(parent, SIGCHLD)->flags & SA_NOCLDWAIT));
	}
	if (process->exit_signal && (!ignored || signal_handler(parent, SIGCHLD) > SIG_IGN)) {
		exit_status_info(process, &info);
		signal_send_locked(parent, NULL, process->exit_signal, &info);
	}
	wake_up(&parent->wait_children);
	return ignored;
}

static void reparent_children(struct process *process)
{
	struct process *child, *next;

	list_for_each_entry_safe (child, next, &process->children, sibling) {
		list_del(&child->sibling);
		child->parent = init_process;
		child->parent_pid = init_process->pid;
		child->exit_signal = SIGCHLD;
		list_add_tail(&child->sibling, &init_process->children);
		if (child->parent_death_signal)
			signal_send_locked(child, NULL, child->parent_death_signal, NULL);
		group_check_orphaned(child, process);
		if (child->zombie && notify_exit(child))
			process_reap(child);
	}
}

static void become_zombie(struct process *process)
{
	struct task *task = current;

	signal_queue_flush(process, &process->pending);
	process->zombie_uid = task->cred->uid;
	memcpy(process->comm, task->comm, sizeof(process->comm));
	reparent_children(process);
	group_check_orphaned(process, process->parent);
	process->zombie = true;
	process->stopped = false;
	process->stop_code = 0;
	process->continued = false;
	if (notify_exit(process))
		process_reap(process);
}

/* Leave the process under the lock; nothing of it may be touched after this. */
static void leave_process(struct task *task, int code)
{
	struct process *process = task->process;
	struct cpu_times times;
	unsigned long flags;

	spin_lock_irqsave(&process_lock, flags);
	signal_queue_flush(process, &task->signals->pending);
	task_times(task, &times);
	process->times.user_ns += times.user_ns;
	process->times.system_ns += times.system_ns;
	process_unlink_task(task);
	if (!process->exiting && task->pid == process->pid)
		process->exit_code = code;
	if (!process->thread_count)
		become_zombie(process);
	else
		signal_thread_left(process);
	task->process = NULL;
	__atomic_fetch_and(&task->pending, ~TASK_PENDING_SIGNAL, __ATOMIC_SEQ_CST);
	spin_unlock_irqrestore(&process_lock, flags);
}

void process_exit(int code)
{
	struct task *task = current;
	struct process *process = task->process;
	bool last = atomic_dec_and_test(&process->live);

	if (unlikely(tracing) && process != init_process)
		control_recordf("exited", "[%d,%d]", task->pid, code);
	if (last && process == init_process)
		init_exited(process->exiting ? process->exit_code : code);
	futex_end_thread();
	clear_child_tid(task);
	if (last)
		itimer_cancel(process);
	give_back_parts(task);
	if (last) {
		vfork_done(process);
		leave_session(process);
	}
	leave_process(task, code);
	put_cred(task->cred);
	task->cred = NULL;
	task->state = TASK_DEAD;
	schedule();
	BUG();
}

void process_end_others(struct process *process)
{
	struct task *task;

	list_for_each_entry (task, &process->threads, thread_link) {
		if (task == current)
			continue;
		__atomic_fetch_or(&task->pending, TASK_PENDING_SIGNAL, __ATOMIC_SEQ_CST);
		sched_wake(task, STATES_KILL);
		sched_notice(task);
	}
}

void process_exit_group(int code)
{
	struct process *process = current->process;
	unsigned long flags;

	spin_lock_irqsave(&process_lock, flags);
	if (!process->exiting) {
		process->exiting = true;
		process->exit_code = code;
		process_end_others(process);
	}
	code = process->exit_code;
	spin_unlock_irqrestore(&process_lock, flags);
	process_exit(code);
}

/* How much ending @process would free, in pages; 0: it may not be ended. */
static u64 badness(const struct process *process)
{
	const struct task *task;

	if (process == init_process || process->zombie || list_empty(&process->threads))
		return 0;
	task = list_first_entry(&process->threads, struct task, thread_link);
	return task->mm ? task->mm->resident_pages + 1 : 0;
}

bool oom_kill(void)
{
	struct process *process, *worst = NULL;
	u64 most = 0, pages;
	unsigned long flags;
	bool already = false;
	pid_t pid = 0;

	spin_lock_irqsave(&process_lock, flags);
	list_for_each_entry (process, &process_list, all_link) {
		pages = badness(process);
		if (pages > most) {
			most = pages;
			worst = process;
		}
	}
	if (worst) {
		already = worst->pending.set & sigmask(SIGKILL) || worst->exiting;
		pid = worst->pid;
		signal_send_locked(worst, NULL, SIGKILL, NULL);
	}
	spin_unlock_irqrestore(&process_lock, flags);
	if (worst && !already)
		pr_err("Out of memory: killed process %d, %llu pages resident\n", pid,
		       (unsigned long long)most);
	return worst;
}
