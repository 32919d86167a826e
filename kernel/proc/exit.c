/*
 * exit.c - the end of a thread and of a process, and waiting for it.
 *
 * A thread gives back what it holds, leaves its process, and dies on its last switch (sched.c frees
 * it). The last thread makes the process a zombie: its children go to init, job control is told,
 * the parent gets its exit signal. From then on the struct process belongs to the parent and may
 * vanish at any moment.
 *
 * A wait looks through the children under process_lock; each of three events is reported once: the
 * end (which frees the zombie), a stop (WUNTRACED), a continuation (WCONTINUED).
 */
#include "fs/vfs.h"
#include "kernel/core/export.h"
#include "kernel/drivers/tty.h"
#include "kernel/proc/init.h"
#include "kernel/proc/itimer.h"
#include "kernel/proc/process.h"
#include "mm/vm.h"

/* ---- the end --------------------------------------------------------------------------------- */

static void clear_child_tid(struct task *task)
{
	u32 *address = (u32 *)task->clear_child_tid;

	if (!address || !task->mm || atomic_read(&task->mm->users) == 1)
		return; /* nobody is there to look at it */
	if (!put_user(0u, address))
		futex_wake_one(address);
}

static void give_back_parts(struct task *task)
{
	struct file_table *files = task->files;
	struct fs_context *fs = task->fs;
	struct mm *mm = task->mm;

	spin_lock_irq(&process_lock); /* /proc looks at them */
	task->files = NULL;
	task->fs = NULL;
	task->mm = NULL; /* nor may a switch back to us load it again */
	spin_unlock_irq(&process_lock);
	if (files)
		file_table_put(files);
	fs_context_put(fs);
	if (mm)
		mm_put(mm);
}

static void reap(struct process *process)
{
	process_unlink(process);
	put_cred(process->zombie_cred);
	process_free(process);
}

/* @code and @status as SIGCHLD and waitid(2) have them. */
static struct siginfo child_info(const struct process *child, int code, int status)
{
	return (struct siginfo){.signo = SIGCHLD,
				.code = code,
				.pid = child->pid,
				.uid = process_cred(child)->uid,
				.status = status,
				.utime = (s64)(child->times.user_ns / TICK_NS),
				.stime = (s64)(child->times.system_ns / TICK_NS)};
}

static struct siginfo end_info(const struct process *process)
{
	int signo = process->exit_code & 0x7f;

	return child_info(process, signo ? CLD_KILLED : CLD_EXITED,
			  signo ? signo : process->exit_code >> 8);
}

/* Tell the parent; nobody will wait for the zombie of a parent that ignores its children. */
static void notify_exit(struct process *process)
{
	struct process *parent = process->parent;
	struct siginfo info = end_info(process);
	u64 handler = signal_handler(parent, SIGCHLD);
	bool ignored = process->exit_signal == SIGCHLD &&
		       (handler == SIG_IGN ||
			((parent->handled & sigmask(SIGCHLD)) &&
			 (signal_action(parent, SIGCHLD)->flags & SA_NOCLDWAIT)));

	if (process->exit_signal && (!ignored || handler > SIG_IGN))
		signal_send_locked(parent, NULL, process->exit_signal, &info);
	wake_up(&parent->wait_children);
	if (ignored)
		reap(process);
}

static void reparent_children(struct process *process)
{
	struct process *child, *next;

	list_for_each_entry_safe(child, next, &process->children, sibling) {
		list_del(&child->sibling);
		child->parent = init_process;
		child->parent_pid = init_process->pid;
		child->exit_signal = SIGCHLD;
		list_add_tail(&child->sibling, &init_process->children);
		if (child->parent_death_signal)
			signal_send_locked(child, NULL, child->parent_death_signal, NULL);
		group_check_orphaned(child, process);
		if (child->zombie)
			notify_exit(child);
	}
}

static void become_zombie(struct process *process)
{
	struct task *task = current;

	signal_queue_flush(process, &process->pending);
	process->zombie_cred = get_cred(task->cred);
	memcpy(process->comm, task->comm, sizeof(process->comm));
	reparent_children(process);
	group_check_orphaned(process, process->parent);
	process->zombie = true;
	process->stopped = process->continued = false;
	process->stop_code = 0;
	notify_exit(process);
}

/* Leave the process under the lock; nothing of it may be touched after this. */
static void leave_process(struct task *task, int code)
{
	struct process *process = task->process;
	struct cpu_times times;

	spin_lock_irq(&process_lock);
	signal_queue_flush(process, &task->signals->pending);
	task_times(task, &times);
	times_add(&process->times, &times);
	process_unlink_task(task);
	if (!process->exiting && task->pid == process->pid)
		process->exit_code = code;
	if (!process->thread_count)
		become_zombie(process);
	else
		signal_thread_left(process);
	task->process = NULL;
	task_clear_pending(task, TASK_PENDING_SIGNAL);
	spin_unlock_irq(&process_lock);
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
	if (last) {
		itimer_cancel(process);
		semaphores_exit(process);
	}
	give_back_parts(task);
	if (last) {
		vfork_done(process);
		/* A session's leader ends: its terminal hangs up. Before the lock, since the
		 * terminal takes its own first. */
		if (process->session == process->pid)
			tty_session_ended(process->session);
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

	list_for_each_entry(task, &process->threads, thread_link) {
		if (task != current)
			signal_tell(task, STATES_KILL);
	}
}

void process_exit_group(int code)
{
	struct process *process = current->process;

	spin_lock_irq(&process_lock);
	if (!process->exiting) {
		process->exiting = true;
		process->exit_code = code;
		process_end_others(process);
	}
	code = process->exit_code;
	spin_unlock_irq(&process_lock);
	process_exit(code);
}

s64 sys_exit(int status)
{
	process_exit((status & 0xff) << 8);
}

s64 sys_exit_group(int status)
{
	process_exit_group((status & 0xff) << 8);
}

bool oom_kill(void)
{
	struct process *process, *worst = NULL;
	u64 most = 0, pages;
	unsigned long flags;
	bool already = false;
	pid_t pid = 0;

	spin_lock_irqsave(&process_lock, flags);
	list_for_each_entry(process, &process_list, all_link) {
		if (process == init_process || process->zombie || list_empty(&process->threads) ||
		    !main_thread(process)->mm)
			continue;
		pages = main_thread(process)->mm->resident_pages + 1;
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

/* ---- waiting --------------------------------------------------------------------------------- */

enum {
	WNOHANG = 1, WSTOPPED = 2, WUNTRACED = 2, WEXITED = 4, WCONTINUED = 8, WNOWAIT = 0x01000000,
	__WNOTHREAD = 0x20000000, __WALL = 0x40000000, __WCLONE = (int)0x80000000
};
#define WAIT_ANY (WNOHANG | __WALL | __WNOTHREAD | __WCLONE) /* of either call */

struct wait_request {
	pid_t pid; /* > 0 that one, 0 our group, -1 any, < -1 that group */
	int options;
	struct siginfo info;
	int status; /* as wait4 reports it */
	struct cpu_times times;
	s64 result; /* pid, 0, or -ECHILD */
};

static bool is_wanted(const struct wait_request *request, const struct process *child)
{
	bool clone = child->exit_signal != SIGCHLD;

	if (!(request->options & __WALL) && clone != !!(request->options & __WCLONE))
		return false;
	if (request->pid > 0)
		return child->pid == request->pid;
	if (request->pid == 0)
		return child->group == current->process->group;
	return request->pid == -1 || child->group == -request->pid;
}

/* Is there something to report of @child? Take it. */
static bool report(struct wait_request *request, struct process *child)
{
	int options = request->options;
	bool keep = options & WNOWAIT;

	if (child->zombie && (options & WEXITED)) {
		request->info = end_info(child);
		request->status = child->exit_code;
		request->times = child->times;
		times_add(&request->times, &child->children_times);
		if (!keep) {
			/* What a child used counts as the parent's once it is waited for. */
			times_add(&current->process->children_times, &request->times);
			reap(child);
		}
	} else if (child->stop_code && (options & WSTOPPED)) {
		request->info = child_info(child, CLD_STOPPED, child->stop_code);
		request->status = child->stop_code << 8 | 0x7f;
		child->stop_code = keep ? child->stop_code : 0;
	} else if (child->continued && (options & WCONTINUED)) {
		request->info = child_info(child, CLD_CONTINUED, SIGCONT);
		request->status = 0xffff;
		child->continued = keep;
	} else {
		return false;
	}
	request->result = request->info.pid;
	return true;
}

/* One look at all children: true if the call can return request->result. */
static bool look(struct wait_request *request)
{
	struct process *child;
	bool done = false;

	request->result = -ECHILD;
	spin_lock_irq(&process_lock);
	list_for_each_entry(child, &current->process->children, sibling) {
		if (!is_wanted(request, child))
			continue;
		request->result = 0;
		done = report(request, child);
		if (done)
			break;
	}
	spin_unlock_irq(&process_lock);
	return done || request->result || (request->options & WNOHANG);
}

static s64 wait(struct wait_request *request)
{
	int error = wait_event_interruptible(current->process->wait_children, look(request));

	return error ? error : request->result;
}

s64 sys_wait4(int pid, int *user_status, int options, void *usage)
{
	struct wait_request request = {.pid = pid, .options = options | WEXITED};
	s64 result;

	if (options & ~(WAIT_ANY | WUNTRACED | WCONTINUED))
		return -EINVAL;
	if (pid == (int)0x80000000)
		return -ESRCH;
	result = wait(&request);
	if (result > 0 && ((user_status && put_user(request.status, user_status)) ||
			   put_rusage(usage, &request.times)))
		return -EFAULT;
	return result;
}

s64 sys_waitid(int kind, int id, void *user_info, int options, void *usage)
{
	enum { P_ALL, P_PID, P_PGID };
	struct wait_request request = {.pid = -1, .options = options};
	s64 result;

	if ((options & ~(WAIT_ANY | WSTOPPED | WEXITED | WCONTINUED | WNOWAIT)) ||
	    !(options & (WSTOPPED | WEXITED | WCONTINUED)))
		return -EINVAL;
	if (kind == P_PID && id > 0)
		request.pid = id;
	else if (kind == P_PGID && id >= 0)
		request.pid = -id;
	else if (kind != P_ALL)
		return -EINVAL;
	result = wait(&request);
	if (result < 0)
		return result;
	if (user_info && copy_to_user(user_info, &request.info, sizeof(request.info)))
		return -EFAULT;
	return result ? put_rusage(usage, &request.times) : 0;
}
