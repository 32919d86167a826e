/*
 * signal.c - signals: sending them, taking them off the pending sets, acting on them on the way to
 * user mode, and the calls about them.
 *
 * Sending puts a signal into the thread's or the process's pending set and makes a thread that does
 * not block it look (TASK_PENDING_SIGNAL, and a wake-up if it sleeps interruptibly). Standard
 * signals (1..31) are pending once; real-time ones queue, oldest first, at most RLIMIT_SIGPENDING a
 * process. Taking one picks faults first, then the lowest number.
 *
 * Stopping: the thread that takes a stop signal sets process->stopped and tells the parent; every
 * thread waits in stop_here() until SIGCONT or SIGKILL, which act when they are *sent*, clears it.
 *
 * Pid 1 gets only signals for which it has a handler (and faults), so that no kill ends the system.
 */
#include "kernel/proc/signal.h"

#include <arch/process.h>
#include <arch/signal.h>

#include "fs/vfs.h"
#include "kernel/core/export.h"
#include "kernel/core/jobctl.h"
#include "kernel/proc/itimer.h"
#include "kernel/proc/process.h"

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

static void drop_entry(struct process *process, struct queued_signal *entry)
{
	list_del(&entry->link);
	kmem_cache_free(queue_cache, entry);
	process->queued_signals--;
}

static void queue_remove(struct process *process, struct signal_queue *queue, u64 mask)
{
	struct queued_signal *entry, *next;

	queue->set &= ~mask;
	list_for_each_entry_safe(entry, next, &queue->list, link) {
		if (mask & sigmask(entry->info.signo))
			drop_entry(process, entry);
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
	list_for_each_entry(task, &process->threads, thread_link)
		queue_remove(process, &task->signals->pending, mask);
}

static int queue_add(struct process *process, struct signal_queue *queue, int signo,
		     const struct siginfo *info)
{
	struct queued_signal *entry = NULL;

	if (signo < SIGRTMIN && (queue->set & sigmask(signo)))
		return 0;
	/* SIGKILL is never looked at; the others tell their handler who sent them. */
	if (signo != SIGKILL && process->queued_signals < process->limits[RLIMIT_SIGPENDING].soft)
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
	struct queued_signal *entry, *next;
	bool found = false;

	*info = (struct siginfo){.signo = signo};
	queue->set &= ~sigmask(signo);
	list_for_each_entry_safe(entry, next, &queue->list, link) {
		if (entry->info.signo != signo)
			continue;
		if (found) {
			queue->set |= sigmask(signo);
			break;
		}
		found = true;
		*info = entry->info;
		drop_entry(process, entry);
	}
}

static int lowest(u64 set)
{
	if (set & SIGNALS_SYNCHRONOUS)
		set &= SIGNALS_SYNCHRONOUS;
	return set ? __builtin_ctzll(set) + 1 : 0;
}

/* Take the next signal for current among those not in @blocked: its number or 0. process_lock held.
 */
static int dequeue(u64 blocked, struct siginfo *info)
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

bool signal_before_fork(void)
{
	const struct process *process = current->process;
	const u64 timers = sigmask(SIGALRM) | sigmask(SIGVTALRM) | sigmask(SIGPROF);

	/* Timers are left out: a fast one would never let a slow fork through. */
	return process && (thread_must_end(process, current) || process->stopped ||
			   (process->pending.set & ~current->signals->blocked & ~timers));
}

/* Recompute TASK_PENDING_SIGNAL of current. process_lock held. */
static void recalculate(void)
{
	const struct process *process = current->process;
	u64 pending = current->signals->pending.set | process->pending.set;

	if ((pending & ~current->signals->blocked) || process->stopped ||
	    thread_must_end(process, current))
		task_set_pending(current, TASK_PENDING_SIGNAL);
	else
		task_clear_pending(current, TASK_PENDING_SIGNAL);
}

void signal_tell(struct task *task, u32 states)
{
	task_set_pending(task, TASK_PENDING_SIGNAL);
	sched_wake(task, states);
	sched_notice(task);
}

/* Have the other threads of @process that do not block all of @signals look. */
static void tell_others(struct process *process, u64 signals)
{
	struct task *task;

	list_for_each_entry(task, &process->threads, thread_link) {
		if (task != current && (signals & ~task->signals->blocked))
			signal_tell(task, STATE_BIT(TASK_INTERRUPTIBLE));
	}
}

void signal_thread_left(struct process *process)
{
	tell_others(process, process->pending.set);
	if (process->exec_task && process->thread_count == 1)
		wake_up_task(process->exec_task);
}

void signal_set_blocked(u64 blocked)
{
	struct process *process = current->process;

	spin_lock_irq(&process_lock);
	blocked &= ~SIGNALS_UNBLOCKABLE;
	/* What we were chosen to take and block now, another thread may take. */
	if (unlikely(process->thread_count > 1))
		tell_others(process, process->pending.set & blocked & ~current->signals->blocked);
	current->signals->blocked = blocked;
	recalculate();
	spin_unlock_irq(&process_lock);
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
	list_for_each_entry(task, &process->threads, thread_link)
		sched_wake(task, STATE_BIT(TASK_STOPPED));
}

/* Tell the parent that @process stopped or goes on. */
static void notify_parent(struct process *process, int code, int status)
{
	struct process *parent = process->parent;
	struct siginfo info = {.code = code, .pid = process->pid, .status = status};

	if (!parent)
		return;
	info.uid = process_cred(process)->uid;
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
		notify_parent(process, CLD_CONTINUED, SIGCONT);
	} else if (signo == SIGKILL && process->stopped) {
		resume(process);
	}
}

/* A thread of @process that would take @signo now; the first one if all block it. */
static struct task *choose_thread(struct process *process, int signo)
{
	struct task *task;

	list_for_each_entry(task, &process->threads, thread_link) {
		if (!(task->signals->blocked & sigmask(signo)))
			return task;
	}
	return main_thread(process);
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
		signal_tell(thread, signo == SIGKILL ? STATES_KILL : STATE_BIT(TASK_INTERRUPTIBLE));
	return error;
}

int signal_group_locked(pid_t pgid, int signo)
{
	struct process *process;
	int count = 0;

	list_for_each_entry(process, &process_list, all_link) {
		if (process->group != pgid || process->zombie)
			continue;
		count++;
		signal_send_locked(process, NULL, signo, NULL);
	}
	return count;
}

void send_signal_current(int signo)
{
	spin_lock_irq(&process_lock);
	signal_send_locked(current->process, current, signo, NULL);
	spin_unlock_irq(&process_lock);
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
	task_set_pending(current, TASK_PENDING_SIGNAL);
	spin_unlock_irqrestore(&process_lock, flags);
}

/* ---- acting on them, on the way to user mode ------------------------------------------------- */

/* Wait for SIGCONT or SIGKILL. process_lock held, released while waiting. */
static void stop_here(struct process *process)
{
	while (process->stopped && !thread_must_end(process, current)) {
		current->state = TASK_STOPPED;
		spin_unlock_irq(&process_lock);
		schedule();
		spin_lock_irq(&process_lock);
	}
	__set_current_state(TASK_RUNNING);
}

static void stop_process(struct process *process, int signo)
{
	/* A group with nobody left in its session to continue it is not stopped, but by SIGSTOP. */
	if (signo != SIGSTOP && group_is_orphaned(process->group, NULL))
		return;
	process->stopped = true;
	process->stop_code = signo;
	process->continued = false;
	tell_others(process, ~0ULL);
	notify_parent(process, CLD_STOPPED, signo);
}

/*
 * Take signals until one has a handler: returns it, its action in *action. Default actions happen
 * here, the fatal ones do not return. 0: nothing left.
 */
static int take_signal(struct signal_action *action, struct siginfo *info)
{
	struct process *process = current->process;
	u64 handler;
	int signo;

	spin_lock_irq(&process_lock);
	for (;;) {
		stop_here(process);
		if (thread_must_end(process, current)) {
			spin_unlock_irq(&process_lock);
			process_exit(process->exit_code);
		}
		signo = dequeue(current->signals->blocked, info);
		if (!signo)
			break;
		if (unlikely(tracing))
			control_recordf("signal", "[%d,%d,%d,%d,%u,%d]", current->pid, signo,
					info->code, info->pid, info->uid, info->status);
		handler = signal_handler(process, signo);
		if (handler > SIG_IGN)
			break;
		if (handler == SIG_IGN || (SIGNALS_IGNORED & sigmask(signo)) ||
		    process == init_process)
			continue;
		if (SIGNALS_STOP & sigmask(signo)) {
			stop_process(process, signo);
			continue;
		}
		spin_unlock_irq(&process_lock);
		process_exit_group(signo);
	}
	if (signo) {
		*action = *signal_action(process, signo);
		if (action->flags & SA_RESETHAND)
			process->handled &= ~sigmask(signo);
	}
	recalculate();
	spin_unlock_irq(&process_lock);
	return signo;
}

/* A call that a signal interrupted: fail it with EINTR or have it made again. @action NULL: no
 * handler. */
static void finish_call(struct registers *registers, const struct signal_action *action)
{
	int error = arch_syscall_error(registers);
	bool again = !action || error == ERESTARTNOINTR ||
		     (error == ERESTARTSYS && (action->flags & SA_RESTART));

	if (error != ERESTARTNOINTR && error != ERESTARTSYS && error != ERESTARTNOHAND &&
	    error != ERESTART_RESTARTBLOCK)
		return;
	if (!again)
		arch_syscall_result(registers) = (u64)-EINTR;
	else
		arch_repeat_syscall(registers, error == ERESTART_RESTARTBLOCK
						       ? ARCH_RESTART_SYSCALL
						       : arch_syscall_number(registers));
}

void signals_deliver(struct registers *registers)
{
	struct signal_state *signals = current->signals;
	struct signal_action action;
	struct siginfo info;
	int signo = take_signal(&action, &info);
	u64 saved = signals->restore_blocked ? signals->saved_blocked : signals->blocked;

	finish_call(registers, signo ? &action : NULL);
	arch_end_syscall(registers);
	signals->restore_blocked = false;
	if (!signo) {
		if (saved != signals->blocked)
			signal_set_blocked(saved);
	} else if (arch_push_signal_frame(registers, &action, &info, saved)) {
		if (signo == SIGSEGV)
			process_exit_group(SIGSEGV); /* the stack is gone: no handler can run */
		signal_set_blocked(saved);
		force_signal(SIGSEGV, SI_KERNEL, 0);
	} else {
		signal_set_blocked(signals->blocked | action.mask |
				   (action.flags & SA_NODEFER ? 0 : sigmask(signo)));
	}
}

void signals_exec(void)
{
	struct process *process = current->process;

	spin_lock_irq(&process_lock);
	for (int signo = 1; process->handled >> (signo - 1); signo++) {
		if (signal_handler(process, signo) == SIG_IGN)
			*signal_action(process, signo) = (struct signal_action){.handler = SIG_IGN};
		else
			process->handled &= ~sigmask(signo);
		if (signo == SIGNAL_COUNT)
			break;
	}
	current->signals->stack = (struct signal_stack){.flags = SS_DISABLE};
	spin_unlock_irq(&process_lock);
}

/* ---- calls: actions and masks ---------------------------------------------------------------- */

s64 sys_rt_sigaction(int signo, const void *user_new, void *user_old, size_t set_size)
{
	struct process *process = current->process;
	struct signal_action new = {0}, old = {0};

	if (set_size != sizeof(u64))
		return -EINVAL;
	if (user_new && copy_from_user(&new, user_new, sizeof(new)))
		return -EFAULT;
	if (signo < 1 || signo > SIGNAL_COUNT ||
	    (user_new && (SIGNALS_UNBLOCKABLE & sigmask(signo))))
		return -EINVAL;
	spin_lock_irq(&process_lock);
	if (process->handled & sigmask(signo))
		old = *signal_action(process, signo);
	if (user_new) {
		new.mask &= ~SIGNALS_UNBLOCKABLE;
		*signal_action(process, signo) = new;
		process->handled |= sigmask(signo);
		if (new.handler == SIG_IGN ||
		    (new.handler == SIG_DFL && (SIGNALS_IGNORED & sigmask(signo)))) {
			remove_everywhere(process, sigmask(signo));
			recalculate();
		}
	}
	spin_unlock_irq(&process_lock);
	return user_old && copy_to_user(user_old, &old, sizeof(old)) ? -EFAULT : 0;
}

s64 sys_rt_sigprocmask(int how, const u64 *user_set, u64 *user_old, size_t set_size)
{
	u64 old = current->signals->blocked, set;

	if (set_size != sizeof(u64))
		return -EINVAL;
	if (user_set) {
		if (get_user(set, user_set))
			return -EFAULT;
		if (how == SIG_BLOCK)
			set |= old;
		else if (how == SIG_UNBLOCK)
			set = old & ~set;
		else if (how != SIG_SETMASK)
			return -EINVAL;
		if ((set & ~SIGNALS_UNBLOCKABLE) != old)
			signal_set_blocked(set);
	}
	return user_old && put_user(old, user_old) ? -EFAULT : 0;
}

s64 sys_rt_sigreturn(void)
{
	u64 blocked;

	if (arch_pop_signal_frame(current_registers(), &blocked))
		force_signal(SIGSEGV, SI_KERNEL, 0);
	else
		signal_set_blocked(blocked);
	arch_return_to_user();
}

s64 sys_rt_sigpending(u64 *set, size_t set_size)
{
	u64 pending = current->signals->pending.set | current->process->pending.set;

	if (set_size > sizeof(u64))
		return -EINVAL;
	pending &= current->signals->blocked;
	return copy_to_user(set, &pending, set_size) ? -EFAULT : 0;
}

s64 sys_sigaltstack(const void *user_new, void *user_old)
{
	struct signal_stack *stack = &current->signals->stack, new, old = *stack;
	u64 sp = arch_user_sp(current_registers());
	bool on_it = !(old.flags & SS_DISABLE) && sp > old.sp && sp - old.sp <= old.size;

	if (user_new && copy_from_user(&new, user_new, sizeof(new)))
		return -EFAULT;
	if (on_it)
		old.flags |= SS_ONSTACK;
	old.pad = 0;
	if (user_new) {
		if (on_it)
			return -EPERM;
		if ((u32)new.flags & ~(SS_AUTODISARM | SS_DISABLE | SS_ONSTACK))
			return -EINVAL;
		if (new.flags & SS_DISABLE)
			new.sp = new.size = 0;
		else if (new.size < MINSIGSTKSZ)
			return -ENOMEM;
		new.flags &= ~SS_ONSTACK;
		*stack = new;
	}
	return user_old && copy_to_user(user_old, &old, sizeof(old)) ? -EFAULT : 0;
}

/* ---- calls: waiting -------------------------------------------------------------------------- */

s64 sys_pause(void)
{
	while (!signal_pending(current)) {
		set_current_state(TASK_INTERRUPTIBLE);
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return -ERESTARTNOHAND;
}

/* Wait with another mask; the way to user mode puts the old one back, after a handler if one is to
 * run. */
s64 sys_rt_sigsuspend(const u64 *user_set, size_t set_size)
{
	struct signal_state *signals = current->signals;
	u64 set;

	if (set_size != sizeof(u64))
		return -EINVAL;
	if (get_user(set, user_set))
		return -EFAULT;
	signals->saved_blocked = signals->blocked;
	signals->restore_blocked = true;
	signal_set_blocked(set);
	return sys_pause();
}

static int take_awaited(u64 set, struct siginfo *info)
{
	int signo;

	spin_lock_irq(&process_lock);
	signo = dequeue(~set, info);
	recalculate();
	spin_unlock_irq(&process_lock);
	return signo;
}

s64 sys_rt_sigtimedwait(const u64 *user_set, void *user_info, const void *timeout, size_t set_size)
{
	struct signal_state *signals = current->signals;
	u64 set, ns = ~0ULL, blocked = signals->blocked;
	struct siginfo info;
	s64 signo;

	if (set_size != sizeof(u64))
		return -EINVAL;
	if (get_user(set, user_set))
		return -EFAULT;
	signo = timeout ? get_timespec(timeout, &ns) : 0;
	if (signo)
		return signo;
	set &= ~SIGNALS_UNBLOCKABLE;
	signo = take_awaited(set, &info);
	if (!signo && ns) {
		/* Unblocked while we sleep, so that sending one wakes us. */
		set_current_state(TASK_INTERRUPTIBLE);
		signals->awaited = set & blocked;
		signal_set_blocked(blocked & ~set);
		ns = schedule_timeout_ns(ns);
		__set_current_state(TASK_RUNNING);
		signo = take_awaited(set, &info);
		signals->awaited = 0;
		signal_set_blocked(blocked);
	}
	if (!signo)
		return ns ? -EINTR : -EAGAIN;
	if (user_info && (copy_to_user(user_info, &info, sizeof(info)) ||
			  clear_user((u8 *)user_info + sizeof(info),
				     SIGINFO_USER_SIZE - sizeof(info))))
		return -EFAULT;
	return signo;
}

s64 sys_restart_syscall(void)
{
	struct restart *restart = &current->signals->restart;

	return restart->function ? restart->function(restart) : -EINTR;
}

/* ---- calls: sending -------------------------------------------------------------------------- */

/* May current signal @process? Same user, or root, or SIGCONT within the session. */
static bool may_signal(const struct process *process, int signo)
{
	const struct cred *mine = current->cred, *theirs = process_cred(process);

	return process == current->process || capable(mine) || mine->euid == theirs->uid ||
	       mine->euid == theirs->suid || mine->uid == theirs->uid ||
	       mine->uid == theirs->suid ||
	       (signo == SIGCONT && process->session == current->process->session);
}

static int send_checked(struct process *process, struct task *thread, int signo,
			const struct siginfo *info)
{
	if (!may_signal(process, signo))
		return -EPERM;
	return signo ? signal_send_locked(process, thread, signo, info) : 0;
}

/* kill(2): to one process, our group (0), all but ourselves and init (-1), or group -@pid. */
static s64 send(pid_t pid, int signo, const struct siginfo *info)
{
	struct process *process;
	pid_t group = pid ? -pid : current->process->group;
	int result = -ESRCH, error;

	if (signo < 0 || signo > SIGNAL_COUNT)
		return -EINVAL;
	spin_lock_irq(&process_lock);
	process = pid > 0 ? process_find(pid) : NULL;
	if (process)
		result = send_checked(process, NULL, signo, info);
	list_for_each_entry(process, &process_list, all_link) {
		if (pid > 0 || (pid == -1 ? process == init_process || process == current->process
					  : process->group != group))
			continue;
		error = send_checked(process, NULL, signo, info);
		/* One success is success; -EPERM only if nobody could be signalled. */
		if (!error || result == -ESRCH)
			result = error;
	}
	spin_unlock_irq(&process_lock);
	return result;
}

/* To one thread; @pid -1: of any process. */
static s64 send_thread(pid_t pid, pid_t thread, int signo, const struct siginfo *info)
{
	struct task *task;
	int error = -ESRCH;

	if (signo < 0 || signo > SIGNAL_COUNT || thread <= 0 || pid == 0)
		return -EINVAL;
	spin_lock_irq(&process_lock);
	task = task_find(thread);
	if (task && (pid < 0 || task->process->pid == pid))
		error = send_checked(task->process, task, signo, info);
	spin_unlock_irq(&process_lock);
	return error;
}

static struct siginfo sender_info(int code)
{
	return (struct siginfo){
		.code = code, .pid = current->process->pid, .uid = current->cred->uid};
}

s64 sys_kill(int pid, int signo)
{
	struct siginfo info = sender_info(SI_USER);

	return send(pid, signo, &info);
}

s64 sys_tgkill(int pid, int thread, int signo)
{
	struct siginfo info = sender_info(SI_TKILL);

	return pid <= 0 ? -EINVAL : send_thread(pid, thread, signo, &info);
}

s64 sys_tkill(int thread, int signo)
{
	struct siginfo info = sender_info(SI_TKILL);

	return send_thread(-1, thread, signo, &info);
}

/* Nobody may pretend to be the kernel or kill(), but to itself. */
static s64 read_siginfo(pid_t pid, const void *from, struct siginfo *info)
{
	if (copy_from_user(info, from, sizeof(*info)))
		return -EFAULT;
	if ((info->code >= 0 || info->code == SI_TKILL) && pid != current->process->pid)
		return -EPERM;
	return pid <= 0 ? -EINVAL : 0;
}

s64 sys_rt_sigqueueinfo(int pid, int signo, const void *user_info)
{
	struct siginfo info;
	s64 error = read_siginfo(pid, user_info, &info);

	return error ? error : send(pid, signo, &info);
}

s64 sys_rt_tgsigqueueinfo(int pid, int thread, int signo, const void *user_info)
{
	struct siginfo info;
	s64 error = read_siginfo(pid, user_info, &info);

	return error ? error : send_thread(pid, thread, signo, &info);
}
