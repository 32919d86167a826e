/*
 * jobctl.h - the system calls about groups and sessions; what terminals need is in core/jobctl.h.
 */
#pragma once

#include "kernel/core/types.h"

/* setpgid(2): 0, -ESRCH, -EPERM, -EACCES (the child has made an execve), -EINVAL. */
int process_set_group(pid_t pid, pid_t group);

/* setsid(2): the new session's number, or -EPERM when the caller leads a group. */
s64 process_new_session(void);

/* getpgid(2), getsid(2): a number or -ESRCH. @pid 0: the caller. */
s64 process_group_of(pid_t pid, bool session);
