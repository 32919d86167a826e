/*
 * wait.h - waiting for children: what wait4(2) and waitid(2) have in common. exit.c does it.
 */
#pragma once

#include "kernel/proc/process.h"

enum { WNOHANG = 1, WUNTRACED = 2 /* waitid: WSTOPPED */, WEXITED = 4, WCONTINUED = 8 };
enum { WNOWAIT = 0x01000000, __WNOTHREAD = 0x20000000, __WALL = 0x40000000 };

struct wait_request {
	pid_t pid; /* process_is_meant() */
	int options;
	int event;
	uid_t uid;		/* the child's */
	struct cpu_times times; /* of a child that has ended */
	s64 result;		/* pid, 0, or -ECHILD */
};

/* One look at all children, to take what there is to report of one (but with WNOWAIT): true if the
 * call can return request->result. Takes process_lock; for wait_event_interruptible() on the
 * process's wait_children. */
bool wait_look(struct wait_request *request);

/* What SIGCHLD and waitid(2) tell of @event of a child. */
static inline struct siginfo event_info(pid_t pid, uid_t uid, int event)
{
	struct siginfo info = {.code = CLD_EXITED, .pid = pid, .uid = uid, .status = event >> 8};

	if (event == EVENT_CONTINUED) {
		info.code = CLD_CONTINUED;
		info.status = SIGCONT;
	} else if ((event & 0x7f) == 0x7f) {
		info.code = CLD_STOPPED;
	} else if (event & 0x7f) {
		info.code = CLD_KILLED;
		info.status = event & 0x7f;
	}
	return info;
}
