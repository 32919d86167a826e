/*
 * jobctl.h - what the terminal needs of process groups and sessions. Implemented by kernel/proc.
 *
 * A terminal belongs to at most one session, which it names by the session's number (the pid of its
 * leader): a process's controlling terminal is the one whose session is its own
 * (kernel/drivers/drivers.h).
 */
#pragma once

/* Of the current process, whose own number is sys_getpid(). */
#define current_pgrp() ((pid_t)sys_getpgrp())
#define current_session() ((pid_t)sys_getsid(0))

/* Send @signo (1..64) to every process of group @pgrp: 0, or -ESRCH if it has none. Any context. */
int signal_pgrp(pid_t pgrp, int signo);

/* The session of process group @pgrp, or 0 if there is no such group. */
pid_t pgrp_session(pid_t pgrp);

/* The current process, in a background group of its terminal's session, is about to do what @signo
 * (SIGTTIN, SIGTTOU) stands for. 0: it may. -ERESTARTSYS: its group has been sent the signal. -EIO:
 * it may not, since it ignores the signal, or nobody could continue the group. */
int signal_background(int signo);

/* Send @signo to the current process, from the kernel (SIGPIPE). */
void send_signal_current(int signo);

/* RLIMIT_FSIZE of the current process, ~0: none. */
u64 current_file_limit(void);

