/*
 * task.c - processes and their threads: making them, giving out pids, finding them again.
 *
 * Processes, zombies too, and threads are found by a walk: what asks for them by pid is rare. A pid
 * is given out again only when no thread, process, group or session has it; there is always one,
 * since there are at most PID_MAX / 4 tasks and zombies, which have at most three each.
 */

#include "fs/direct_hooks.h"
#include "kernel/proc/process.h"

DEFINE_SPINLOCK(process_lock);
LIST_HEAD(process_list);
struct process *init_process;
unsigned max_tasks, task_count;
u64 total_forks;
pid_t last_pid;
bool tracing;

static struct kmem_cache *process_cache;
static bool pids_wrapped;

void task_init(void)
{
	sched_signal_hook = signal_current;
	tasks_init(sizeof(struct signal_state));
	process_cache = kmem_cache_create("process", sizeof(struct process), 64, 0);
	info_init();
	load_init();
	/* An eighth of memory at most for kernel stacks and tables of processes: about 32 KB each.
	 */
	max_tasks = (unsigned)min(max(page_alloc_free_pages() / 64, (u64)64), (u64)PID_MAX / 4);
}

struct process *process_allocate(struct process *parent)
{
	struct process *process = kmem_cache_alloc(process_cache, GFP_KERNEL);

	if (!process)
		return NULL;
	memset(process, 0, offsetof(struct process, limits));
	process->parent = parent;
	INIT_LIST_HEAD(&process->threads);
	INIT_LIST_HEAD(&process->children);
	init_waitqueue_head(&process->wait_children);
	timer_init(&process->real_timer, real_timer_expired, process);
	process->start_ns = ktime_ns();
	return process;
}

void process_free(struct process *process)
{
	kmem_cache_free(process_cache, process);
}

struct process *process_find(pid_t pid)
{
	struct process *process;

	lockdep_assert_held(&process_lock);
	list_for_each_entry(process, &process_list, all_link)
		if (process->pid == pid)
			return process;
	return NULL;
}

struct process *process_find_or_self(pid_t pid)
{
	lockdep_assert_held(&process_lock);
	const struct task *task = pid ? task_find(pid) : current;

	return task ? task->process : process_find(pid);
}

bool process_is_meant(const struct process *process, pid_t pid)
{
	lockdep_assert_held(&process_lock);
	if (pid > 0)
		return process->pid == pid;
	return pid == -1 || process->group == (pid ? -pid : current->process->group);
}

struct task *task_find(pid_t pid)
{
	struct process *process;
	struct task *task;

	lockdep_assert_held(&process_lock);
	list_for_each_entry(process, &process_list, all_link)
		list_for_each_entry(task, &process->threads, thread_link)
			if (task->pid == pid)
				return task;
	return NULL;
}

static bool pid_is_used(pid_t pid)
{
	struct process *process;

	lockdep_assert_held(&process_lock);
	list_for_each_entry(process, &process_list, all_link)
		if (process->pid == pid || process->group == pid || process->session == pid)
			return true;
	return task_find(pid);
}

static pid_t pid_allocate(void)
{
	lockdep_assert_held(&process_lock);
	do {
		if (++last_pid >= PID_MAX) {
			last_pid = 300; /* the low ones stay with the first programs, as in Linux */
			pids_wrapped = true;
		}
	} while (pids_wrapped && pid_is_used(last_pid));
	return last_pid;
}

/* Enter a new process everywhere, with what it inherits. */
static void link_process(struct process *process, pid_t pid)
{
	const size_t from = offsetof(struct process, handled);
	const size_t to = offsetof(struct process, actions);
	struct process *parent = process->parent;

	lockdep_assert_held(&process_lock);
	process->pid = pid;
	list_add_tail(&process->all_link, &process_list);
	if (!parent)
		return;
	process->parent_pid = parent->pid;
	memcpy((char *)process + from, (char *)parent + from, to - from);
	for (u64 left = parent->handled; left; left &= left - 1)
		process->actions[__builtin_ctzll(left)] = parent->actions[__builtin_ctzll(left)];
	list_add_tail(&process->sibling, &parent->children);
}

/* Is there a signal that may have been meant for our whole group? Timers' are left out: a fast one
 * would never let a slow fork through. */
static bool signal_before_fork(void)
{
	const struct process *process = current->process;
	const u64 timers = sigmask(SIGALRM) | sigmask(SIGVTALRM) | sigmask(SIGPROF);

	lockdep_assert_held(&process_lock);
	return process &&
	       (thread_must_end(process, current) || process->stopped ||
		(process->pending & ~current->signals->blocked & ~timers));
}

int process_link_task(struct process *process, struct task *task)
{
	guard(spinlock_irq, &process_lock);
	/* A signal to our group must reach the child as well: it has not been in it, so let it be
	 * made after, when we have taken the signal, if no other thread has. */
	if (signal_before_fork()) {
		task_set_pending(current, TASK_PENDING_SIGNAL);
		return -ERESTARTNOINTR;
	}
	if (task_count >= max_tasks)
		return -EAGAIN;
	task->pid = pid_allocate();
	if (list_empty(&process->threads))
		link_process(process, task->pid);
	task->process = process;
	task->process_id = process->pid;
	task->limits = process->limits;
	task_set_nice(task, process->nice);
	list_add_tail(&task->thread_link, &process->threads);
	process->thread_count++;
	atomic_inc(&process->live);
	task_count++;
	total_forks++;
	return 0;
}

void task_set_cred(struct cred *cred)
{
	/* What it has read with other rights is not for the new user's eyes. */
	if (cred->euid != current->cred->euid || cred->egid != current->cred->egid)
		current->process->not_dumpable = true;
	const struct cred *old = current->cred, *new = cred_or_equal(cred);

	spin_lock_irq(&process_lock); /* others look at it */
	current->cred = current->real_cred = new;
	spin_unlock_irq(&process_lock);
	put_cred(old);
}

const struct cred *process_cred(const struct process *process)
{
	lockdep_assert_held(&process_lock);
	return list_empty(&process->threads) ? process->zombie_cred
					     : main_thread(process)->real_cred;
}
