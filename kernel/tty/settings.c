/*
 * settings.c - what programs ask and tell a terminal by ioctl: its settings (termios(3)), its size,
 * its session.
 *
 * Output is written at once, so "wait until it is drained" (TCSETSW, TCSBRK) is true when it is
 * asked. Programs do not stop it (no TCXONC), nor see speeds as numbers (no TCGETS2): -ENOTTY.
 */
#include "kernel/proc/process.h"
#include "kernel/tty/terminal.h"

/* @command: TCSETS, TCSETSW, or TCSETSF, which forgets input. */
static int set_termios(const void __user *from, unsigned command)
{
	struct termios termios;

	TRY(read_user(&termios, from, sizeof(termios)));
	termios.c_iflag &= ~IFLAG_MISSING;
	termios.c_oflag &= OPOST | ONLCR;
	termios.c_lflag = (termios.c_lflag & LFLAG_DONE) | LFLAG_ALWAYS;
	spin_lock_irq(&tty_lock);
	if (command == TCSETSF)
		tty_flush_input();
	if ((termios.c_lflag ^ tty.termios.c_lflag) & ICANON) {
		/* What is there becomes readable in either direction, in one piece, as
		 * n_tty_set_termios does it. */
		for (u32 at = tty.tail; at != tty.head; at++)
			tty.buffer[at % TTY_BUFFER] &= 0xff;
		if (termios.c_lflag & ICANON && tty.head != tty.tail)
			tty.buffer[(tty.head - 1) % TTY_BUFFER] |= TTY_LINE_END;
		tty.literal = false;
		tty.canonical = tty.head;
	}
	tty.termios = termios;
	tty.stopped &= I_FLAG(IXON) != 0;
	spin_unlock_irq(&tty_lock);
	/* into the room of what was flushed; what is readable may be another thing */
	tty_drain(NULL);
	return 0;
}

static int set_winsize(const void __user *from)
{
	struct winsize size, before = tty.winsize;

	TRY(read_user(&size, from, sizeof(size)));
	tty.winsize = size;
	if (tty.foreground && memcmp(&size, &before, sizeof(size)))
		signal_pgrp(tty.foreground, tty.session, SIGWINCH);
	return 0;
}

/* Bytes that can be read now; canonical: of all whole lines. */
static int count_readable(void)
{
	int count = 0;

	guard(spinlock_irq, &tty_lock);
	for (u32 at = tty.tail; at != tty.canonical; at++)
		count += !(tty.buffer[at % TTY_BUFFER] & TTY_END_OF_FILE);
	return count;
}

/* Forget input: @queue is which of the two; output never waits. */
static int flush(u64 queue)
{
	if (queue > TCIOFLUSH)
		return -EINVAL;
	if (queue == TCOFLUSH)
		return 0;
	spin_lock_irq(&tty_lock);
	tty_flush_input();
	spin_unlock_irq(&tty_lock);
	tty_drain(NULL);
	return 0;
}

static int set_foreground(const pid_t __user *user_group)
{
	pid_t group, session;

	TRY(get_user(group, user_group));
	if (group < 0)
		return -EINVAL;
	session = pgrp_session(group);
	if (!session)
		return -ESRCH;
	if (session != current_session())
		return -EPERM;
	guard(spinlock_irq, &tty_lock);
	if (!tty_is_ours()) /* any more */
		return -ENOTTY;
	tty.foreground = group;
	return 0;
}

/* What a process may ask of its controlling terminal only. */
static int session_ioctl(unsigned command, pid_t __user *id)
{
	if (!tty_is_ours())
		return -ENOTTY;
	switch (command) {
	case TIOCNOTTY:
		if (current_session() != current->process_id)
			return -EPERM;
		tty_session_ended(current_session());
		return 0;
	case TIOCGPGRP:
		return put_user(tty.foreground, id);
	case TIOCSPGRP:
		return set_foreground(id);
	case TIOCGSID:
		return put_user(tty.session, id);
	}
	return -ENOTTY;
}

s64 tty_ioctl(struct file *file, unsigned command, u64 argument)
{
	void __user *user = (void __user *)(uintptr_t)argument;
	bool root = current->cred->euid == 0;

	switch (command) { /* what changes the terminal a background group may not do unasked */
	case TCSETS ... TCSETSF:
	case TCSBRK ... TCFLSH:
	case TIOCSPGRP:
		TRY(tty_check_background(SIGTTOU));
	}
	switch (command) {
	case TCGETS:
		return write_user(user, &tty.termios, sizeof(tty.termios));
	case TCSETS ... TCSETSF:
		return set_termios(user, command);
	case TIOCGWINSZ:
		return write_user(user, &tty.winsize, sizeof(tty.winsize));
	case TIOCSWINSZ:
		return set_winsize(user);
	case TCSBRK:
		return 0;
	case TCFLSH:
		return flush(argument);
	case FIONREAD:
		return put_user(count_readable(), (int __user *)user);
	case TIOCOUTQ: /* nothing ever waits */
		return put_user(0, (int __user *)user);
	case TIOCSCTTY:
		if (!(file->mode & FMODE_READ) && !root)
			return -EPERM;
		return tty_take_session(argument == 1 && root ? TAKE_FROM_OTHERS : TAKE_FREE);
	}
	return session_ioctl(command, user);
}
