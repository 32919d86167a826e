/*
 * wait.c - wait4 and waitid: what became of a child.
 *
 * Under process_lock the children are looked through; each of three events is reported once: the
 * end (which frees the zombie), a stop (WUNTRACED), a continuation (WCONTINUED).
 */
#include "fs/vfs.h"
#include "kernel/core/errno.h"
#include "kernel/core/sched.h"
#include "kernel/core/wait.h"
#include "kernel/proc/process.h"

struct wait_request {
	pid_t pid; /* > 0 that one, 0 our group, -1 any, < -1 that group */
	int options;
	struct siginfo info;
	int status; /* as wait4 reports it */
	struct cpu_times times;
	s64 result; /* pid, 0, or -ECHILD */
};

void process_reap(struct process *process)
{
	process_unlink(process);
	process_free(process);
}

/* What a child used counts as the parent's once it is waited for, and only then. */
static void add_usage(struct process *parent, const struct process *child)
{
	parent->children_times.user_ns += child->times.user_ns + child->children_times.user_ns;
	parent->children_times.system_ns +=
		child->times.system_ns + child->children_times.system_ns;
	parent->children_faults += child->minor_faults + child->children_faults;
}

static bool is_wanted(const struct wait_request *request, const struct process *child)
{
	bool clone = child->exit_signal != SIGCHLD;

	if (!(request->options & __WALL) && clone != !!(request->options & (int)__WCLONE))
		return false;
	if (request->pid > 0)
		return child->pid == request->pid;
	if (request->pid == 0)
		return child->group == current->process->group;
	return request->pid == -1 || child->group == -request->pid;
}

uid_t process_uid(const struct process *process)
{
	if (process->zombie || list_empty(&process->threads))
		return process->zombie_uid;
	return list_first_entry(&process->threads, struct task, thread_link)->cred->uid;
}

static void describe(struct wait_request *request, const struct process *child, int code,
		     int status)
{
	request->info = (struct siginfo){.signo = SIGCHLD,
					 .code = code,
					 .pid = child->pid,
					 .uid = process_uid(child),
					 .status = status};
	request->result = child->pid;
}

/* Something to report of @child? Then fill in @request. */
static bool report(struct wait_request *request, struct process *child)
{
	int options = request->options, signo;
	bool keep = options & WNOWAIT;

	if (child->zombie && (options & WEXITED)) {
		signo = child->exit_code & 0x7f;
		describe(request, child, signo ? CLD_KILLED : CLD_EXITED,
			 signo ? signo : child->exit_code >> 8);
		request->status = child->exit_code;
		request->times.user_ns = child->times.user_ns + child->children_times.user_ns;
		request->times.system_ns = child->times.system_ns + child->children_times.system_ns;
		if (!keep) {
			add_usage(current->process, child);
			process_reap(child);
		}
		return true;
	}
	if (child->stop_code && (options & WSTOPPED)) {
		describe(request, child, CLD_STOPPED, child->stop_code);
		request->status = child->stop_code << 8 | 0x7f;
		if (!keep)
			child->stop_code = 0;
		return true;
	}
	if (child->continued && (options & WCONTINUED)) {
		describe(request, child, CLD_CONTINUED, SIGCONT);
		request->status = 0xffff;
		if (!keep)
			child->continued = false;
		return true;
	}
	return false;
}

/* One look at all children: true if the call can return request->result. */
static bool look(struct wait_request *request)
{
	struct process *child;
	unsigned long flags;
	bool found = false, done = false;

	spin_lock_irqsave(&process_lock, flags);
	list_for_each_entry(child, &current->process->children, sibling) {
		if (!is_wanted(request, child))
			continue;
		found = true;
		if (report(request, child)) {
			done = true;
			break;
		}
	}
	spin_unlock_irqrestore(&process_lock, flags);
	if (done)
		return true;
	request->result = found ? 0 : -ECHILD;
	return !found || (request->options & WNOHANG);
}

s64 process_wait(pid_t pid, int options, int *status, struct siginfo *info, struct cpu_times *times)
{
	struct wait_request request = {.pid = pid, .options = options};
	int error;

	error = wait_event_interruptible(current->process->wait_children, look(&request));
	if (error)
		return error;
	*status = request.status;
	*info = request.info;
	*times = request.times;
	return request.result;
}
