/*
 * waitid.c - waitid(2): waiting for children as wait4(2), by kinds of events and without taking
 * them.
 */
#include "kernel/proc/wait.h"

enum { P_ALL, P_PID, P_PGID };

/* The meaning of @id by its kind, as process_is_meant() has it: 0 or -EINVAL. */
static int whom(int kind, int id, pid_t *pid)
{
	if (kind == P_ALL)
		*pid = -1;
	else if (kind == P_PID && id > 0)
		*pid = id;
	else if (kind == P_PGID && id >= 0)
		*pid = -id; /* 0: our group */
	else
		return -EINVAL;
	return 0;
}

/* The pid, of which request->info tells, 0 or -errno. */
static s64 wait_for_id(struct wait_request *request, int kind, int id)
{
	if (!(request->options & (WEXITED | WUNTRACED | WCONTINUED)) ||
	    request->options & ~(WNOHANG | WUNTRACED | WEXITED | WCONTINUED | WNOWAIT | __WALL |
				 __WNOTHREAD))
		return -EINVAL;
	TRY(whom(kind, id, &request->pid));
	TRY(wait_event_interruptible(current->process->wait_children, wait_look(request)));
	return request->result;
}

s64 sys_waitid(int kind, int id, void *user_info, int options, void *usage)
{
	/* Of siginfo_t what is not of SIGCHLD stays as it is; without a child there are zeros. */
	const size_t size = offsetof(struct siginfo, status) + sizeof(s32);
	struct wait_request request = {.options = options};
	s64 result = wait_for_id(&request, kind, id);
	struct siginfo info = {0};

	if (result > 0) {
		info = event_info((pid_t)result, request.uid, request.event);
		info.signo = SIGCHLD;
		TRY(put_rusage(usage, &request.times));
	}
	if (user_info)
		TRY(write_user(user_info, &info, size));
	return min(result, (s64)0);
}
