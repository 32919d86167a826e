/*
 * signal.c - sending signals and taking them off the pending sets. What is done about one:
 * deliver.c.
 *
 * Sending puts a signal into the thread's or the process's pending set and makes a thread that does
 * not block it look (TASK_PENDING_SIGNAL, and a wake-up if it sleeps interruptibly). Standard
 * signals (1..31) are pending once; real-time ones queue, oldest first, at most MAX_QUEUED a
 * process. Taking one picks faults first, then the lowest number.
 *
 * Pid 1 gets only signals for which it has a handler (and faults), so that no kill ends the system.
 */
#include "kernel/proc/signal.h"

#include <arch/process.h>
#include <arch/signal.h>

#include "fs/vfs.h"
#include "kernel/core/jobctl.h"
#include "kernel/core/printk.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/proc/itimer.h"
#include "kernel/proc/process.h"
#include "mm/slab.h"

#define MAX_QUEUED 1024

struct queued_signal {
	struct list_head link;
	struct siginfo info;
};

static struct kmem_cache *queue_cache;

void signal_init(void)
{
	queue_cache = kmem_cache_create("signal", sizeof(struct queued_signal), 8, 0, NULL);
}

bool signal_pending(struct task *task)
{
	return task->pending & TASK_PENDING_SIGNAL;
}

bool fatal_signal_pending(struct task *task)
{
	struct process *process = task->process;

	if (!signal_pending(task) || !process)
		return false;
	return thread_must_end(process, task) ||
	       ((READ_ONCE(task->signals->pending.set) | READ_ONCE(process->pending.set)) &
		sigmask(SIGKILL));
}

/* ---- pending sets ---------------------------------------------------------------------------- */

void signal_queue_init(struct signal_queue *queue)
{
	queue->set = 0;
	INIT_LIST_HEAD(&queue->list);
}

static void queue_remove(struct process *process, struct signal_queue *queue, u64 mask)
{
	struct queued_signal *entry, *next;

	if (!(queue->set & mask))
		return;
	queue->set &= ~mask;
	list_for_each_entry_safe (entry, next, &queue->list, link) {
		if (mask & sigmask(entry->info.signo)) {
			list_del(&entry->link);
			kmem_cache_free(queue_cache, entry);
			process->queued_signals--;
		}
	}
}

void signal_queue_flush(struct process *process, struct signal_queue *queue)
{
	queue_remove(process, queue, ~0ULL);
}

static void remove_everywhere(struct process *process, u64 mask)
{
	struct task *task;

	queue_remove(process, &process->pending, mask);
	list_for_each_entry (task, &process->threads, thread_link)
		queue_remove(process, &task->signals->pending, mask);
}

static int queue_add(struct process *process, struct signal_queue *queue, int signo,
		     const struct siginfo *info)
{
	struct queued_signal *entry = NULL;

	if (signo < SIGRTMIN && (queue->set & sigmask(signo)))
		return 0;
	/* SIGKILL is never looked at; the others tell their handler who sent them. */
	if (signo != SIGKILL && process->queued_signals < MAX_QUEUED)
		entry = kmem_cache_alloc(queue_cache, GFP_ATOMIC);
	if (!entry && signo >= SIGRTMIN && info && info->code != SI_USER)
		return -EAGAIN;
	if (entry) {
		entry->info = info ? *info : (struct siginfo){.code = SI_KERNEL};
		entry->info.signo = signo;
		list_add_tail(&entry->link, &queue->list);
		process->queued_signals++;
	}
	queue->set |= sigmask(signo);
	return 0;
}

/* Take @signo off @queue: its oldest entry, or a bare one when none could be allocated. */
static void queue_take(struct process *process, struct signal_queue *queue, int signo,
		       struct siginfo *info)
{
	struct queued_signal *entry, *found = NULL;
	bool more = false;

	list_for_each_entry (entry, &queue->list, link) {
		if (entry->info.signo != signo)
			continue;
		if (found) {
			more = true;
			break;
		}
		found = entry;
	}
	if (!more)
		queue->set &= ~sigmask(signo);
	*info = (struct siginfo){.signo = signo};
	if (found) {
		*info = found->info;
		list_del(&found->link);
		kmem_cache_free(queue_cache, found);
		process->queued_signals--;
	}
}

static int lowest(u64 set)
{
	if (set & SIGNALS_SYNCHRONOUS)
		set &= SIGNALS_SYNCHRONOUS;
	return set ? __builtin_ctzll(set) + 1 : 0;
}

/* The next signal for current among those not in @blocked, or 0. process_lock held. */
int signal_dequeue(u64 blocked, struct siginfo *info)
{
	struct process *process = current->process;
	struct signal_queue *queue = &current->signals->pending;
	int signo = lowest(queue->set & ~blocked);

	if (!signo) {
		queue = &process->pending;
		signo = lowest(queue->set & ~blocked);
	}
	if (signo)
		queue_take(process, queue, signo, info);
	if (unlikely(signo == SIGALRM))
		itimer_alarm_taken(process);
	return signo;
}

static void set_signal_pending(struct task *task)
{
	__atomic_fetch_or(&task->pending, TASK_PENDING_SIGNAL, __ATOMIC_SEQ_CST);
}

static bool has_deliverable(const struct task *task)
{
	const struct process *process = task->process;

	return ((task->signals->pending.set | process->pending.set) & ~task->signals->blocked) ||
	       process->stopped || thread_must_end(process, task);
}

bool signal_before_fork(void)
{
	const struct process *process = current->process;
	const u64 timers = sigmask(SIGALRM) | sigmask(SIGVTALRM) | sigmask(SIGPROF);

	/* Timers are left out: a fast one would never let a slow fork through. */
	return process && (thread_must_end(process, current) || process->stopped ||
			   (process->pending.set & ~current->signals->blocked & ~timers));
}

void signal_recalculate(void)
{
	lockdep_assert_held(&process_lock);
	if (has_deliverable(current))
		set_signal_pending(current);
	else
		__atomic_fetch_and(&current->pending, ~TASK_PENDING_SIGNAL, __ATOMIC_SEQ_CST);
}

static void tell_thread(struct task *task, bool fatal)
{
	set_signal_pending(task);
	sched_wake(task, fatal ? STATES_KILL : STATE_BIT(TASK_INTERRUPTIBLE));
	sched_notice(task);
}

void signal_tell_others(struct process *process, u64 signals)
{
	struct task *task;

	list_for_each_entry (task, &process->threads, thread_link) {
		if (task != current && (signals & ~task->signals->blocked))
			tell_thread(task, false);
	}
}

void signal_thread_left(struct process *process)
{
	signal_tell_others(process, process->pending.set);
	if (process->exec_task && process->thread_count == 1)
		wake_up_task(process->exec_task);
}

void signal_set_blocked(u64 blocked)
{
	struct process *process = current->process;
	unsigned long flags;

	blocked &= ~SIGNALS_UNBLOCKABLE;
	spin_lock_irqsave(&process_lock, flags);
	/* What we were chosen to take and block now, another thread may take. */
	if (unlikely(process->thread_count > 1))
		signal_tell_others(process,
				   process->pending.set & blocked & ~current->signals->blocked);
	current->signals->blocked = blocked;
	signal_recalculate();
	spin_unlock_irqrestore(&process_lock, flags);
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool is_ignored(const struct process *process, const struct task *thread, int signo)
{
	u64 handler = signal_handler(process, signo);
	u64 blocked = thread->signals->blocked | thread->signals->awaited;

	if (blocked & sigmask(signo))
		return false; /* what is done about it is decided when it is unblocked, or taken */
	if (process == init_process && handler == SIG_DFL)
		return true;
	if (unlikely(tracing))
		return false; /* to be seen, as under a debugger in Linux */
	return handler == SIG_IGN || (handler == SIG_DFL && (SIGNALS_IGNORED & sigmask(signo)));
}

/* Let threads of @process go on that stop_here(). */
static void resume(struct process *process)
{
	struct task *task;

	process->stopped = false;
	list_for_each_entry (task, &process->threads, thread_link)
		sched_wake(task, STATE_BIT(TASK_STOPPED));
}

void signal_notify_parent(struct process *process, int code, int status)
{
	struct process *parent = process->parent;
	struct siginfo info = {.code = code, .pid = process->pid, .status = status};

	if (!parent)
		return;
	if (!((parent->handled & sigmask(SIGCHLD)) &&
	      (signal_action(parent, SIGCHLD)->flags & SA_NOCLDSTOP)))
		signal_send_locked(parent, NULL, SIGCHLD, &info);
	wake_up(&parent->wait_children);
}

/* What stop signals and SIGCONT do when they are sent, even if ignored or blocked. */
static void act_on_sending(struct process *process, int signo)
{
	if (SIGNALS_STOP & sigmask(signo)) {
		remove_everywhere(process, sigmask(SIGCONT));
	} else if (signo == SIGCONT) {
		remove_everywhere(process, SIGNALS_STOP);
		if (!process->stopped)
			return;
		process->stop_code = 0;
		process->continued = true;
		resume(process);
		signal_notify_parent(process, CLD_CONTINUED, SIGCONT);
	} else if (signo == SIGKILL && process->stopped) {
		resume(process);
	}
}

/* A thread of @process that would take @signo now; the first one if all block it. */
static struct task *choose_thread(struct process *process, int signo)
{
	struct task *task;

	list_for_each_entry (task, &process->threads, thread_link) {
		if (!(task->signals->blocked & sigmask(signo)))
			return task;
	}
	return list_first_entry(&process->threads, struct task, thread_link);
}

int signal_send_locked(struct process *process, struct task *thread, int signo,
		       const struct siginfo *info)
{
	struct signal_queue *queue = thread ? &thread->signals->pending : &process->pending;
	int error;

	lockdep_assert_held(&process_lock);
	if (list_empty(&process->threads)) /* a zombie */
		return 0;
	act_on_sending(process, signo);
	if (!thread)
		thread = choose_thread(process, signo);
	if (is_ignored(process, thread, signo))
		return 0;
	error = queue_add(process, queue, signo, info);
	if (!error && !(thread->signals->blocked & sigmask(signo)))
		tell_thread(thread, signo == SIGKILL);
	return error;
}

int signal_group_locked(pid_t pgid, int signo)
{
	struct process *process;
	int count = 0;

	list_for_each_entry (process, &process_list, all_link) {
		if (process->group != pgid || process->zombie)
			continue;
		count++;
		if (signo)
			signal_send_locked(process, NULL, signo, NULL);
	}
	return count;
}

/* May current signal @process? Same user, or root, or SIGCONT within the session. */
static bool may_signal(const struct process *process, int signo)
{
	const struct cred *mine = current->cred, *theirs;

	if (process == current->process || capable(mine))
		return true;
	if (process->zombie || list_empty(&process->threads))
		return process->zombie_uid == mine->uid || process->zombie_uid == mine->euid;
	theirs = list_first_entry(&process->threads, struct task, thread_link)->cred;
	if (mine->euid == theirs->uid || mine->euid == theirs->suid || mine->uid == theirs->uid ||
	    mine->uid == theirs->suid)
		return true;
	return signo == SIGCONT && process->session == current->process->session;
}

static int send_checked(struct process *process, struct task *thread, int signo,
			const struct siginfo *info)
{
	if (!may_signal(process, signo))
		return -EPERM;
	return signo ? signal_send_locked(process, thread, signo, info) : 0;
}

/* To all of a group (pgid > 0), or to all but ourselves and init (pgid < 0). */
static int kill_many(pid_t pgid, int signo, const struct siginfo *info)
{
	struct process *process;
	int result = -ESRCH, error;

	list_for_each_entry (process, &process_list, all_link) {
		if (pgid > 0 ? process->group != pgid
			     : process == init_process || process == current->process)
			continue;
		error = send_checked(process, NULL, signo, info);
		/* One success is success; -EPERM only if nobody could be signalled. */
		if (!error || result == -ESRCH)
			result = error;
	}
	return result;
}

int signal_kill(pid_t pid, int signo, const struct siginfo *info)
{
	struct process *process;
	unsigned long flags;
	int error = -ESRCH;

	if (signo < 0 || signo > SIGNAL_COUNT)
		return -EINVAL;
	spin_lock_irqsave(&process_lock, flags);
	if (pid > 0) {
		process = process_find(pid);
		if (process)
			error = send_checked(process, NULL, signo, info);
	} else if (pid == -1) {
		error = kill_many(-1, signo, info);
	} else if (pid != (pid_t)0x80000000) {
		error = kill_many(pid ? -pid : current->process->group, signo, info);
	}
	spin_unlock_irqrestore(&process_lock, flags);
	return error;
}

int signal_kill_thread(pid_t pid, pid_t thread, int signo, const struct siginfo *info)
{
	struct task *task;
	unsigned long flags;
	int error = -ESRCH;

	if (signo < 0 || signo > SIGNAL_COUNT || thread <= 0 || pid == 0)
		return -EINVAL;
	spin_lock_irqsave(&process_lock, flags);
	task = task_find(thread);
	if (task && (pid < 0 || task->process->pid == pid))
		error = send_checked(task->process, task, signo, info);
	spin_unlock_irqrestore(&process_lock, flags);
	return error;
}

void send_signal_current(int signo)
{
	unsigned long flags;

	spin_lock_irqsave(&process_lock, flags);
	signal_send_locked(current->process, current, signo, NULL);
	spin_unlock_irqrestore(&process_lock, flags);
}

void force_signal(int signo, int code, u64 address)
{
	struct siginfo info = {.signo = signo, .code = code, .address = address};
	struct process *process = current->process;
	struct signal_state *signals = current->signals;
	unsigned long flags;

	spin_lock_irqsave(&process_lock, flags);
	if ((signals->blocked & sigmask(signo)) || signal_handler(process, signo) == SIG_IGN) {
		process->handled &= ~sigmask(signo);
		signals->blocked &= ~sigmask(signo);
	}
	if (process == init_process && signal_handler(process, signo) == SIG_DFL)
		panic("init (pid 1) got fatal signal %d (code %d) at address %#llx, ip %#llx",
		      signo, code, (unsigned long long)address,
		      (unsigned long long)arch_user_ip(current_registers()));
	queue_add(process, &signals->pending, signo, &info);
	set_signal_pending(current);
	spin_unlock_irqrestore(&process_lock, flags);
}

/* ---- what is to be done about them ---------------------------------------------------------- */

int signal_set_action(int signo, const struct signal_action *new, struct signal_action *old)
{
	struct process *process = current->process;
	unsigned long flags;

	if (signo < 1 || signo > SIGNAL_COUNT || (new && (SIGNALS_UNBLOCKABLE & sigmask(signo))))
		return -EINVAL;
	spin_lock_irqsave(&process_lock, flags);
	*old = (struct signal_action){0};
	if (process->handled & sigmask(signo))
		*old = *signal_action(process, signo);
	if (new) {
		*signal_action(process, signo) = *new;
		process->handled |= sigmask(signo);
		if (new->handler == SIG_IGN ||
		    (new->handler == SIG_DFL && (SIGNALS_IGNORED & sigmask(signo)))) {
			remove_everywhere(process, sigmask(signo));
			signal_recalculate();
		}
	}
	spin_unlock_irqrestore(&process_lock, flags);
	return 0;
}
