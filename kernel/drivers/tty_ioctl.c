/*
 * tty_ioctl.c - settings, window size, sessions and foreground groups of a terminal.
 *
 * Output is written at once (tty.c), so "wait until it is drained" (TCSETSW, TCSBRK) is true when
 * it is asked. Not there: a terminal with several sessions' processes, so TIOCNOTTY of a process
 * that is no session leader is -EPERM (it can call setsid).
 */
#include "kernel/drivers/tty_ioctl.h"
#include "fs/vfs.h"
#include "kernel/core/jobctl.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/drivers/tty.h"

#define SIGTTOU 22
#define SIGWINCH 28

/* @size: of struct ktermios or struct ktermios2. */
static int get_termios(struct tty *tty, void __user *to, size_t size)
{
	struct ktermios2 settings = {.c_ispeed = LINE_SPEED, .c_ospeed = LINE_SPEED};
	unsigned long flags;

	spin_lock_irqsave(&tty->lock, flags);
	settings.termios = tty->line.termios;
	spin_unlock_irqrestore(&tty->lock, flags);
	return copy_to_user(to, &settings, size) ? -EFAULT : 0;
}

static int set_termios(struct tty *tty, const void __user *from, bool flush)
{
	struct ktermios termios;
	unsigned long flags;

	if (copy_from_user(&termios, from, sizeof(termios)))
		return -EFAULT;
	spin_lock_irqsave(&tty->lock, flags);
	if (flush)
		line_flush(&tty->line);
	line_set_termios(&tty->line, &termios);
	spin_unlock_irqrestore(&tty->lock, flags);
	wake_up(&tty->read_wait); /* what counts as readable may be another thing now */
	wake_up(&tty->write_wait);
	return 0;
}

static int set_winsize(struct tty *tty, const void __user *from)
{
	struct winsize size;
	unsigned long flags;
	pid_t foreground;
	bool changed;

	if (copy_from_user(&size, from, sizeof(size)))
		return -EFAULT;
	spin_lock_irqsave(&tty->lock, flags);
	changed = memcmp(&size, &tty->winsize, sizeof(size)) != 0;
	tty->winsize = size;
	foreground = tty->foreground;
	spin_unlock_irqrestore(&tty->lock, flags);
	if (changed && foreground)
		signal_pgrp(foreground, SIGWINCH);
	return 0;
}

static int flush(struct tty *tty, u64 which)
{
	unsigned long flags;

	if (which > TCIOFLUSH)
		return -EINVAL;
	if (which == TCOFLUSH)
		return 0; /* output never waits */
	spin_lock_irqsave(&tty->lock, flags);
	line_flush(&tty->line);
	spin_unlock_irqrestore(&tty->lock, flags);
	return 0;
}

/* TCXONC: stop and restart output, or ask the other side to. */
static int flow(struct tty *tty, u64 action)
{
	unsigned long flags;
	char c;

	switch (action) {
	case TCOOFF:
	case TCOON:
		spin_lock_irqsave(&tty->lock, flags);
		tty->line.stopped = action == TCOOFF;
		spin_unlock_irqrestore(&tty->lock, flags);
		wake_up(&tty->write_wait);
		return 0;
	case TCIOFF:
	case TCION:
		c = (char)tty->line.termios.c_cc[action == TCIOFF ? VSTOP : VSTART];
		if (c != VDISABLED)
			tty->line.emit(&tty->line, &c, 1);
		return 0;
	}
	return -EINVAL;
}

static bool is_controlling(const struct tty *tty)
{
	return tty->session && tty->session == current_session();
}

static int set_foreground(struct tty *tty, const pid_t __user *from)
{
	unsigned long flags;
	pid_t group, session;

	if (!is_controlling(tty))
		return -ENOTTY;
	if (get_user(group, from))
		return -EFAULT;
	if (group < 0)
		return -EINVAL;
	session = pgrp_session(group);
	if (!session)
		return -ESRCH;
	if (session != current_session())
		return -EPERM;
	spin_lock_irqsave(&tty->lock, flags);
	tty->foreground = group;
	spin_unlock_irqrestore(&tty->lock, flags);
	return 0;
}

static int give_up(struct tty *tty)
{
	if (!is_controlling(tty))
		return -ENOTTY;
	if (!current_is_session_leader())
		return -EPERM;
	tty_session_ended(current_session());
	return 0;
}

/* Whether @command changes the terminal, which a background group may not do unasked. */
static bool changes_terminal(unsigned command)
{
	switch (command) {
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
	case TCSETS2:
	case TCSETSW2:
	case TCSETSF2:
	case TCFLSH:
	case TCSBRK:
	case TCSBRKP:
	case TCXONC:
	case TIOCSPGRP:
		return true;
	}
	return false;
}

static int queue_size(struct tty *tty, int __user *to, bool input)
{
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&tty->lock, flags);
	if (input)
		n = (int)line_available(&tty->line);
	spin_unlock_irqrestore(&tty->lock, flags);
	return put_user(n, to);
}

static s64 session_ioctl(struct tty *tty, unsigned command, u64 argument)
{
	pid_t __user *number = (pid_t __user *)(uintptr_t)argument;

	switch (command) {
	case TIOCSCTTY:
		return tty_take_session(tty, argument == 1 && current->cred->euid == 0);
	case TIOCNOTTY:
		return give_up(tty);
	case TIOCGPGRP:
		return is_controlling(tty) ? put_user(tty->foreground, number) : -ENOTTY;
	case TIOCSPGRP:
		return set_foreground(tty, number);
	case TIOCGSID:
		return is_controlling(tty) ? put_user(tty->session, number) : -ENOTTY;
	}
	return -ENOTTY;
}

s64 tty_ioctl(struct file *file, unsigned command, u64 argument)
{
	struct tty *tty = file->private;
	void __user *pointer = (void __user *)(uintptr_t)argument;
	int error = changes_terminal(command) ? tty_check_background(tty, SIGTTOU) : 0;

	if (error)
		return error;
	switch (command) {
	case TCGETS:
		return get_termios(tty, pointer, sizeof(struct ktermios));
	case TCGETS2:
		return get_termios(tty, pointer, sizeof(struct ktermios2));
	case TCSETS:
	case TCSETSW:
	case TCSETS2:
	case TCSETSW2:
		return set_termios(tty, pointer, false);
	case TCSETSF:
	case TCSETSF2:
		return set_termios(tty, pointer, true);
	case TIOCGWINSZ:
		return copy_to_user(pointer, &tty->winsize, sizeof(tty->winsize)) ? -EFAULT : 0;
	case TIOCSWINSZ:
		return set_winsize(tty, pointer);
	case TCSBRK:
	case TCSBRKP:
		return 0; /* drained; the line has no break condition */
	case TCXONC:
		return flow(tty, argument);
	case TCFLSH:
		return flush(tty, argument);
	case FIONREAD:
		return queue_size(tty, pointer, true);
	case TIOCOUTQ:
		return queue_size(tty, pointer, false);
	case TIOCGETD:
		return put_user(0, (int __user *)pointer); /* N_TTY */
	}
	return session_ioctl(tty, command, argument);
}
