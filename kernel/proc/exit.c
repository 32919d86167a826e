/*
 * exit.c - the end of a thread and of a process, and waiting for it.
 *
 * A thread gives back what it holds, leaves its process, and dies on its last switch (sched.c frees
 * it). The last thread makes the process a zombie: its children go to init, job control is told,
 * the parent gets SIGCHLD. From then on the struct process belongs to the parent and may vanish at
 * any moment.
 *
 * What happens to a child is its one `event`, the last one if several: its end, a stop (WUNTRACED),
 * a continuation (WCONTINUED). A wait looks through the children under process_lock and takes it;
 * the end frees the zombie.
 */
#include "fs/cred.h"
#include "kernel/proc/process.h"
#include "kernel/proc/wait.h"
#include "mm/space/swap_hooks.h"

/* ---- what happened to a child ---------------------------------------------------------------- */

static void reap(struct process *process)
{
	lockdep_assert_held(&process_lock);
	list_del(&process->all_link);
	list_del(&process->sibling);
	put_cred(process->zombie_cred);
	process_free(process);
	task_count--;
}

void process_event(struct process *process, int event)
{
	struct process *parent = process->parent;

	lockdep_assert_held(&process_lock);
	process->event = event;
	if (!parent)
		return;

	struct siginfo info = event_info(process->pid, process_cred(process)->uid, event);
	u64 flags = parent->handled & sigmask(SIGCHLD) ? parent->actions[SIGCHLD - 1].flags : 0;
	bool ignored = signal_handler(parent, SIGCHLD) == SIG_IGN;

	if (!ignored && (!process->thread_count || !(flags & SA_NOCLDSTOP)))
		signal_send_locked(parent, NULL, SIGCHLD, &info);
	wake_up(&parent->wait_children);
	/* Nobody will wait for the zombie of a parent that ignores its children. */
	if (!process->thread_count && (ignored || (flags & SA_NOCLDWAIT)))
		reap(process);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void become_zombie(struct process *process)
{
	struct process *child, *next;

	lockdep_assert_held(&process_lock);
	process->zombie_cred = get_cred(current->cred);
	memcpy(process->comm, current->comm, sizeof(process->comm));
	list_for_each_entry_safe(child, next, &process->children, sibling) {
		list_del(&child->sibling);
		child->parent = init_process;
		child->parent_pid = init_process->pid;
		list_add_tail(&child->sibling, &init_process->children);
		group_check_orphaned(child, process);
		if (!child->thread_count)
			process_event(child, child->event);
	}
	group_check_orphaned(process, process->parent);
	process_event(process, process->exit_code);
}

/* Leave the process under the lock; nothing of it may be touched after this. */
static void leave_process(struct task *task, int code)
{
	struct process *process = task->process;

	guard(spinlock_irq, &process_lock);
	times_add(&process->times, task_times(task));
	list_del(&task->thread_link);
	process->thread_count--;
	if (!process->exiting && !process->thread_count)
		process->exit_code = code;
	if (!process->thread_count) {
		become_zombie(process);
	} else {
		task_count--;
		/* What it left of the process's signals is for others. */
		signal_tell_threads(process, process->pending, STATE_BIT(TASK_INTERRUPTIBLE));
		if (process->exec_task && process->thread_count == 1)
			wake_up_task(process->exec_task);
	}
	task->process = NULL;
	task->limits = NULL;
	task_clear_pending(task, TASK_PENDING_SIGNAL | TASK_PENDING_END);
}

void (*undo_semaphores)(const struct process *process);

void process_exit(int code)
{
	struct task *task = current;
	struct process *process = task->process;
	struct process_parts parts = {task->mm, task->files, task->fs};
	bool last = atomic_dec_and_test(&process->live);

	if (unlikely(tracing) && process != init_process)
		control_recordf("exited", "[%d,%d]", task->pid, code);
	if (last && process == init_process) {
		code = process->exiting ? process->exit_code : code;
		panic("init (pid 1) ended, by signal %d, with status %d; it should end the machine by reboot(2)",
		      code & 0x7f, code >> 8);
	}
	futex_end_thread();
	if (last) {
		itimer_cancel(process);
		if (READ_ONCE(undo_semaphores))
			undo_semaphores(process);
	}
	spin_lock_irq(&process_lock); /* /proc looks at them */
	task->files = NULL;
	task->fs = NULL;
	task->mm = NULL;
	task->mmu = NULL; /* nor may a switch back to us load it again */
	spin_unlock_irq(&process_lock);
	process_parts_put(&parts);
	/* A session's leader ends: its terminal hangs up. Before the lock, since the terminal
	 * takes its own first. */
	if (last && process->session == process->pid && terminal)
		terminal->session_ended(process->session);
	leave_process(task, code);
	put_cred(task->cred);
	task->cred = NULL;
	task->state = TASK_DEAD;
	schedule();
	BUG();
}

void process_end(struct process *process, int code)
{
	lockdep_assert_held(&process_lock);
	if (process->exiting)
		return;
	process->exiting = true;
	process->stopped = false;
	process->exit_code = code;
	signal_end_threads(process, NULL);
}

void process_exit_group(int code)
{
	spin_lock_irq(&process_lock);
	process_end(current->process, code);
	spin_unlock_irq(&process_lock);
	process_exit(current->process->exit_code);
}

s64 sys_exit(int status)
{
	process_exit((status & 0xff) << 8);
}

s64 sys_exit_group(int status)
{
	process_exit_group((status & 0xff) << 8);
}

s64 oom_badness(const struct process *process)
{
	s64 share = (s64)page_alloc_total_pages() / OOM_SCORE_ADJ_MAX;

	lockdep_assert_held(&process_lock);
	if (process == init_process || list_empty(&process->threads) ||
	    process->oom_score_adj == -OOM_SCORE_ADJ_MAX)
		return OOM_NEVER;
	const struct mm *mm = main_thread(process)->mm;
	if (!mm)
		return OOM_NEVER;
	return (s64)(mm->resident_pages + mm_swapped_pages(mm) + READ_ONCE(mm->mmu.table_count)) +
	       process->oom_score_adj * share;
}

bool oom_kill(void)
{
	static u64 until_ns; /* so long who has just ended may take to give back what he had */
	struct process *process, *worst = NULL;

	guard(spinlock_irqsave, &process_lock);
	list_for_each_entry(process, &process_list, all_link)
		if (oom_badness(process) > (worst ? oom_badness(worst) : OOM_NEVER))
			worst = process;
	if (!(worst && worst->exiting) && ktime_ns() < until_ns)
		return true;
	until_ns = ktime_ns() + 2 * TICK_NS;
	if (worst && !worst->exiting) {
		process_end(worst, SIGKILL);
		pr_err("Out of memory: killed process %d, %llu pages resident\n", worst->pid,
		       main_thread(worst)->mm->resident_pages);
	}
	return worst;
}

/* ---- waiting --------------------------------------------------------------------------------- */

bool wait_look(struct wait_request *request)
{
	struct process *child;

	guard(spinlock_irq, &process_lock);
	request->result = -ECHILD;
	list_for_each_entry(child, &current->process->children, sibling) {
		int option = child->event == EVENT_CONTINUED ? WCONTINUED : WUNTRACED;

		if (!child->thread_count)
			option = WEXITED;
		if (!process_is_meant(child, request->pid) ||
		    (option == WEXITED && !(request->options & WEXITED)))
			continue;
		request->result = 0;
		if (option != WEXITED && !(child->event && (request->options & option)))
			continue;
		request->event = child->event;
		request->uid = process_cred(child)->uid;
		request->result = child->pid;
		if (option == WEXITED) {
			request->times = child->times;
			times_add(&request->times, child->children_times);
		}
		if (request->options & WNOWAIT)
			return true;
		child->event = 0;
		if (option == WEXITED) {
			/* What a child used counts as the parent's once it is waited for. */
			times_add(&current->process->children_times, request->times);
			reap(child);
		}
		return true;
	}
	return request->result || (request->options & WNOHANG);
}

s64 sys_wait4(int pid, int *user_status, int options, void *usage)
{
	struct wait_request request = {.pid = pid, .options = options | WEXITED};

	if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | __WALL | __WNOTHREAD))
		return -EINVAL;
	if (pid == (int)0x80000000)
		return -ESRCH;
	TRY(wait_event_interruptible(current->process->wait_children, wait_look(&request)));
	if (request.result <= 0)
		return request.result;
	if (user_status)
		TRY(put_user(request.event, user_status));
	return put_rusage(usage, &request.times) ? -EFAULT : request.result;
}
