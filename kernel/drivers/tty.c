/*
 * tty.c - the terminal's files: reading, writing, polling, who may, where its signals go, and its
 * settings (ioctl).
 *
 * Output is written at once, so "wait until it is drained" (TCSETSW, TCSBRK) is true when it is
 * asked, and the line has no break condition. Not there: a terminal with several sessions'
 * processes, so TIOCNOTTY of a process that is no session leader is -EPERM (it can call setsid).
 */
#include "kernel/drivers/tty.h"
#include "fs/vfs.h"
#include "hash/cache.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/jobctl.h"
#include "kernel/drivers/drivers.h"

#define SIGHUP 1
#define SIGCONT 18
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGWINCH 28

#define CHUNK 256
#define VTIME_UNIT_NS (100 * NSEC_PER_MSEC)

#define TTY_DEV MKDEV(5, 0)
#define CONSOLE_DEV MKDEV(5, 1)
#define SERIAL_DEV MKDEV(4, 64)

struct tty console_tty;

/* ---- input ----------------------------------------------------------------------------------- */

void tty_receive(struct tty *tty, u8 c)
{
	unsigned long flags;
	pid_t foreground;
	int signo;

	spin_lock_irqsave(&tty->lock, flags);
	signo = line_receive(tty, c);
	foreground = tty->foreground;
	spin_unlock_irqrestore(&tty->lock, flags);
	if (signo == LINE_STATUS)
		hash_report_request();
	else if (signo && foreground)
		signal_pgrp(foreground, signo);
	wake_up(&tty->wait);
}

bool tty_throttled(struct tty *tty)
{
	unsigned long flags;
	bool throttled;

	spin_lock_irqsave(&tty->lock, flags);
	throttled = tty->throttled = !line_has_room(tty);
	spin_unlock_irqrestore(&tty->lock, flags);
	return throttled;
}

/* ---- who may --------------------------------------------------------------------------------- */

/*
 * May the current task, if it is in a background group of the terminal's session, do what @signo
 * (SIGTTIN, SIGTTOU) stands for? 0: yes. -ERESTARTSYS: its group has been sent the signal. -EIO:
 * no.
 */
static int check_background(struct tty *tty, int signo)
{
	pid_t group = current_pgrp();

	if (tty->session != current_session() || !tty->foreground || tty->foreground == group)
		return 0;
	if (current_signal_ignored(signo))
		return signo == SIGTTIN ? -EIO : 0;
	if (pgrp_is_orphaned(group))
		return -EIO;
	signal_pgrp(group, signo);
	return -ERESTARTSYS;
}

void tty_session_ended(pid_t session)
{
	struct tty *tty = &console_tty;
	unsigned long flags;
	pid_t foreground = 0;

	spin_lock_irqsave(&tty->lock, flags);
	if (session && tty->session == session) {
		foreground = tty->foreground;
		tty->session = tty->foreground = 0;
	}
	spin_unlock_irqrestore(&tty->lock, flags);
	if (foreground) {
		signal_pgrp(foreground, SIGHUP);
		signal_pgrp(foreground, SIGCONT);
	}
}

u32 tty_of_session(pid_t session, pid_t *foreground)
{
	struct tty *tty = &console_tty;
	bool ours = session && READ_ONCE(tty->session) == session;

	*foreground = ours ? READ_ONCE(tty->foreground) : -1;
	return ours ? SERIAL_DEV : 0;
}

/* The current session leader takes the terminal: 0 or -EPERM. @steal: from another session too. */
static int take_session(struct tty *tty, bool steal)
{
	pid_t session = current_session();
	unsigned long flags;
	int error = 0;

	if (current_session() != current_process_id())
		return -EPERM;
	spin_lock_irqsave(&tty->lock, flags);
	if (tty->session && tty->session != session && !steal) {
		error = -EPERM;
	} else if (tty->session != session) {
		tty->session = session;
		tty->foreground = current_pgrp();
	}
	spin_unlock_irqrestore(&tty->lock, flags);
	return error;
}

/* ---- reading and writing --------------------------------------------------------------------- */

/* Take at most @n bytes; lets the driver go on if it held input back. */
static size_t take_input(struct tty *tty, u8 *to, size_t n, bool *end)
{
	unsigned long flags;
	bool resume;
	size_t taken;

	spin_lock_irqsave(&tty->lock, flags);
	taken = line_read(tty, to, n, end);
	resume = tty->throttled && line_has_room(tty);
	tty->throttled &= !resume;
	spin_unlock_irqrestore(&tty->lock, flags);
	if (resume && tty->resume_input)
		tty->resume_input(NULL);
	return taken;
}

/*
 * Wait until there is input, after @got bytes. 1: look; 0: the read ends with what it has; -EAGAIN,
 * -ERESTARTSYS.
 */
static int wait_input(struct tty *tty, struct file *file, size_t got)
{
	bool canonical = tty->termios.c_lflag & ICANON;
	u64 time = tty->termios.c_cc[VTIME] * VTIME_UNIT_NS;
	size_t least = tty->termios.c_cc[VMIN];
	s64 left;

	if (line_readable(tty))
		return 1;
	if (!canonical && !least && !time)
		return 0;
	if (file->flags & O_NONBLOCK)
		return -EAGAIN;
	/* VTIME bounds the whole wait without VMIN, else the gap behind the first byte. */
	if (canonical || !time || (least && !got))
		return wait_event_interruptible(tty->wait, line_readable(tty)) ?: 1;
	left = wait_event_interruptible_timeout(tty->wait, line_readable(tty), time);
	return left < 0 ? (int)left : left > 0;
}

/* Under read_lock: bytes moved to @io, or -errno if none. */
static ssize_t read_input(struct tty *tty, struct file *file, struct io *io)
{
	size_t wanted = io->length, got = 0, n;
	bool end = false;
	u8 chunk[CHUNK];

	while (got < wanted && !end) {
		int ready = wait_input(tty, file, got);

		if (ready <= 0)
			return got ? (ssize_t)got : ready;
		n = take_input(tty, chunk, min_t(size_t, wanted - got, CHUNK), &end);
		got += n;
		if (io_put(io, chunk, n) < n)
			return -EFAULT;
		/* Without lines, VMIN bytes end a read that has taken all there is. */
		if (!(tty->termios.c_lflag & ICANON))
			end = end && got >= min_t(size_t, tty->termios.c_cc[VMIN], wanted);
	}
	return (ssize_t)got;
}

static ssize_t tty_read(struct file *file, struct io *io, loff_t *position)
{
	struct tty *tty = file->private;
	ssize_t result = check_background(tty, SIGTTIN);

	if (result || !io->length)
		return result;
	if (mutex_lock_interruptible(&tty->read_lock))
		return -ERESTARTSYS;
	result = read_input(tty, file, io);
	mutex_unlock(&tty->read_lock);
	return result;
}

static ssize_t tty_write(struct file *file, struct io *io, loff_t *position)
{
	struct tty *tty = file->private;
	size_t wanted = io->length, n;
	unsigned long flags;
	char chunk[CHUNK];
	ssize_t error = 0;

	if (tty->termios.c_lflag & TOSTOP)
		error = check_background(tty, SIGTTOU);
	if (!error && (file->flags & O_NONBLOCK) && tty->stopped)
		error = -EAGAIN;
	if (error)
		return error;
	if (mutex_lock_interruptible(&tty->write_lock))
		return -ERESTARTSYS;
	while (io->length && !error) {
		error = wait_event_interruptible(tty->wait, !tty->stopped);
		if (error)
			break;
		n = io_get(io, chunk, min_t(size_t, io->length, CHUNK));
		error = n ? 0 : -EFAULT;
		spin_lock_irqsave(&tty->lock, flags);
		line_write(tty, chunk, n);
		spin_unlock_irqrestore(&tty->lock, flags);
		cond_resched();
	}
	mutex_unlock(&tty->write_lock);
	return io->length < wanted ? (ssize_t)(wanted - io->length) : error;
}

static unsigned tty_poll(struct file *file, struct poll_table *table)
{
	struct tty *tty = file->private;

	poll_wait(file, &tty->wait, table);
	return (line_readable(tty) ? POLLIN | POLLRDNORM : 0) |
	       (tty->stopped ? 0 : POLLOUT | POLLWRNORM);
}

/* ---- settings -------------------------------------------------------------------------------- */

static int set_termios(struct tty *tty, const void __user *from, bool flush)
{
	struct ktermios termios;
	unsigned long flags;

	if (copy_from_user(&termios, from, sizeof(termios)))
		return -EFAULT;
	spin_lock_irqsave(&tty->lock, flags);
	if (flush)
		line_flush(tty);
	line_set_termios(tty, &termios);
	spin_unlock_irqrestore(&tty->lock, flags);
	wake_up(&tty->wait); /* what counts as readable may be another thing now */
	return 0;
}

static int set_winsize(struct tty *tty, const void __user *from)
{
	struct winsize size, before = tty->winsize;
	pid_t foreground = tty->foreground;

	if (copy_from_user(&size, from, sizeof(size)))
		return -EFAULT;
	tty->winsize = size;
	if (foreground && memcmp(&size, &before, sizeof(size)))
		signal_pgrp(foreground, SIGWINCH);
	return 0;
}

static int flush(struct tty *tty, u64 which)
{
	unsigned long flags;

	if (which > TCIOFLUSH)
		return -EINVAL;
	spin_lock_irqsave(&tty->lock, flags);
	if (which != TCOFLUSH) /* output never waits */
		line_flush(tty);
	spin_unlock_irqrestore(&tty->lock, flags);
	return 0;
}

/* TCXONC: stop and restart output, or ask the other side to. */
static int flow(struct tty *tty, u64 action)
{
	char c = (char)tty->termios.c_cc[action == TCIOFF ? VSTOP : VSTART];

	if (action > TCION)
		return -EINVAL;
	if (action == TCOOFF || action == TCOON) {
		tty->stopped = action == TCOOFF;
		wake_up(&tty->wait);
	} else if (c != VDISABLED) {
		console_write_raw(&c, 1);
	}
	return 0;
}

static int set_foreground(struct tty *tty, const pid_t __user *from)
{
	pid_t group, session;

	if (get_user(group, from))
		return -EFAULT;
	if (group < 0)
		return -EINVAL;
	session = pgrp_session(group);
	if (session == current_session())
		tty->foreground = group;
	else
		return session ? -EPERM : -ESRCH;
	return 0;
}

/* What a process may ask of its controlling terminal only. */
static s64 session_ioctl(struct tty *tty, unsigned command, void __user *argument)
{
	if (!tty->session || tty->session != current_session())
		return -ENOTTY;
	switch (command) {
	case TIOCNOTTY:
		if (current_session() != current_process_id())
			return -EPERM;
		tty_session_ended(tty->session);
		return 0;
	case TIOCGPGRP:
		return put_user(tty->foreground, (pid_t __user *)argument);
	case TIOCSPGRP:
		return set_foreground(tty, argument);
	case TIOCGSID:
		return put_user(tty->session, (pid_t __user *)argument);
	}
	return -ENOTTY;
}

/* Whether @command changes the terminal, which a background group may not do unasked. */
static bool changes_terminal(unsigned command)
{
	return (command >= TCSETS && command <= TCSETSF) || command == TIOCSPGRP ||
	       (command >= TCSETS2 && command <= TCSETSF2) || command == TCSBRKP ||
	       (command >= TCSBRK && command <= TCFLSH);
}

static s64 tty_ioctl(struct file *file, unsigned command, u64 argument)
{
	struct tty *tty = file->private;
	void __user *user = (void __user *)(uintptr_t)argument;
	struct ktermios2 settings = {tty->termios, LINE_SPEED, LINE_SPEED};
	int error = changes_terminal(command) ? check_background(tty, SIGTTOU) : 0;

	if (error)
		return error;
	switch (command) {
	case TCGETS:
		return copy_to_user(user, &settings.termios, sizeof(settings.termios)) ? -EFAULT
										       : 0;
	case TCGETS2:
		return copy_to_user(user, &settings, sizeof(settings)) ? -EFAULT : 0;
	case TCSETS ... TCSETSF:
	case TCSETS2 ... TCSETSF2:
		return set_termios(tty, user, command == TCSETSF || command == TCSETSF2);
	case TIOCGWINSZ:
		return copy_to_user(user, &tty->winsize, sizeof(tty->winsize)) ? -EFAULT : 0;
	case TIOCSWINSZ:
		return set_winsize(tty, user);
	case TCSBRK:
	case TCSBRKP:
		return 0;
	case TCXONC:
		return flow(tty, argument);
	case TCFLSH:
		return flush(tty, argument);
	case FIONREAD:
		return put_user(line_available(tty), (int __user *)user);
	case TIOCOUTQ: /* nothing ever waits */
	case TIOCGETD: /* N_TTY */
		return put_user(0, (int __user *)user);
	case TIOCSCTTY:
		return take_session(tty, argument == 1 && current->cred->euid == 0);
	}
	return session_ioctl(tty, command, user);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int tty_open(struct inode *inode, struct file *file)
{
	struct tty *tty = &console_tty;

	if (inode->rdev == TTY_DEV && (!tty->session || tty->session != current_session()))
		return -ENXIO;
	file->private = tty;
	/* As in Linux, /dev/console never becomes a controlling terminal by being opened. */
	if (inode->rdev == SERIAL_DEV && !(file->flags & O_NOCTTY) && !tty->session)
		take_session(tty, false);
	return 0;
}

static const struct file_operations tty_file_operations = {
	.open = tty_open,
	.read = tty_read,
	.write = tty_write,
	.poll = tty_poll,
	.ioctl = tty_ioctl,
};

void tty_init(void)
{
	u64 rows = 0, columns = 0;

	mutex_init(&console_tty.read_lock, "tty->read_lock");
	mutex_init(&console_tty.write_lock, "tty->write_lock");
	init_waitqueue_head(&console_tty.wait);
	spin_lock_init(&console_tty.lock, "tty->lock");
	line_init(&console_tty);
	cmdline_u64("rows", &rows);
	cmdline_u64("columns", &columns);
	console_tty.winsize = (struct winsize){.ws_row = (u16)rows, .ws_col = (u16)columns};
	register_chrdev(TTY_DEV, "tty", 0666, &tty_file_operations);
	register_chrdev(CONSOLE_DEV, "console", 0600, &tty_file_operations);
	register_chrdev(SERIAL_DEV, "ttyS0", 0660, &tty_file_operations);
}
