/*
 * session.c - whose terminal it is: the session that it controls, the group in the foreground, and
 * what the others may do.
 *
 * A process that is no session leader cannot give the terminal up (TIOCNOTTY is -EPERM; it can call
 * setsid).
 */
#include "kernel/proc/process.h"
#include "kernel/tty/terminal.h"

bool tty_is_ours(void)
{
	return tty.session && tty.session == current_session();
}

int tty_check_background(int signo)
{
	pid_t group = current_pgrp();

	if (tty.session != current_session() || !tty.foreground || tty.foreground == group)
		return 0;
	return signal_background(signo);
}

void tty_session_ended(pid_t session)
{
	guard(spinlock_irqsave, &tty_lock);
	if (!session || tty.session != session)
		return;
	if (tty.foreground) {
		signal_pgrp(tty.foreground, tty.session, SIGHUP);
		signal_pgrp(tty.foreground, tty.session, SIGCONT);
	}
	tty.session = tty.foreground = 0;
}

/* For /proc/PID/stat. */
static u32 of_session(pid_t session, pid_t *foreground)
{
	*foreground = -1;
	if (!session || READ_ONCE(tty.session) != session)
		return 0;
	*foreground = READ_ONCE(tty.foreground);
	return SERIAL_DEV;
}

int tty_take_session(enum take take)
{
	pid_t session = current_session(), group = current_pgrp();

	if (session != current->process_id)
		return -EPERM;
	guard(spinlock_irq, &tty_lock);
	if (tty.session == session)
		return 0;
	if (tty.session && take == TAKE_FREE)
		return -EPERM;
	tty.session = session;
	tty.foreground = group;
	return 0;
}

void tty_session_init(void)
{
	static const struct terminal_hooks hooks = {
		.session_ended = tty_session_ended,
		.of_session = of_session,
	};

	terminal = &hooks;
}
