/*
 * tty.c - the terminal's files: reading, writing, polling, who may, and where its signals go.
 *
 * The settings (ioctl) are in tty_ioctl.c.
 */
#include "kernel/drivers/tty.h"
#include "fs/vfs.h"
#include "hash/cache.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/jobctl.h"
#include "kernel/core/printk.h"
#include "kernel/core/work.h"
#include "kernel/drivers/drivers.h"
#include "kernel/drivers/tty_ioctl.h"

#define SIGHUP 1
#define SIGCONT 18
#define SIGTTIN 21
#define SIGTTOU 22

#define CHUNK 256
#define VTIME_UNIT_NS (100 * NSEC_PER_MSEC)

#define TTY_DEV MKDEV(5, 0)
#define CONSOLE_DEV MKDEV(5, 1)
#define SERIAL_DEV MKDEV(4, 64)

struct tty console_tty = {
	.read_lock = MUTEX_INIT(console_tty.read_lock, "tty->read_lock"),
	.write_lock = MUTEX_INIT(console_tty.write_lock, "tty->write_lock"),
	.read_wait = WAIT_QUEUE_INIT(console_tty.read_wait, "tty->read_wait"),
	.write_wait = WAIT_QUEUE_INIT(console_tty.write_wait, "tty->write_wait"),
	.lock = SPINLOCK_INIT("tty->lock"),
};

/* ---- input ----------------------------------------------------------------------------------- */

/* ^T: the reports are long and take bucket locks, so a thread prints them. */
static void report_caches(struct work *work)
{
	(void)work;
	hash_report_all();
}
static DEFINE_WORK(report_work, report_caches);

void tty_receive(struct tty *tty, u8 c)
{
	unsigned long flags;
	unsigned result;
	pid_t foreground;

	spin_lock_irqsave(&tty->lock, flags);
	result = line_receive(&tty->line, c);
	foreground = tty->foreground;
	spin_unlock_irqrestore(&tty->lock, flags);

	if ((result & LINE_SIGNAL_MASK) && foreground)
		signal_pgrp(foreground, (int)(result & LINE_SIGNAL_MASK));
	if (result & LINE_READABLE)
		wake_up(&tty->read_wait);
	if (result & LINE_RESTARTED)
		wake_up(&tty->write_wait);
	if (result & LINE_STATUS)
		work_queue(&report_work);
}

bool tty_throttled(struct tty *tty)
{
	unsigned long flags;
	bool throttled;

	spin_lock_irqsave(&tty->lock, flags);
	throttled = tty->throttled = !line_has_room(&tty->line);
	spin_unlock_irqrestore(&tty->lock, flags);
	return throttled;
}

/* ---- who may --------------------------------------------------------------------------------- */

int tty_check_background(struct tty *tty, int signo)
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

	if (!session)
		return;
	spin_lock_irqsave(&tty->lock, flags);
	if (tty->session == session) {
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

int tty_take_session(struct tty *tty, bool steal)
{
	unsigned long flags;
	int error = 0;

	if (!current_is_session_leader())
		return -EPERM;
	spin_lock_irqsave(&tty->lock, flags);
	if (tty->session && tty->session != current_session() && !steal)
		error = -EPERM;
	else if (tty->session != current_session()) {
		tty->session = current_session();
		tty->foreground = current_pgrp();
	}
	spin_unlock_irqrestore(&tty->lock, flags);
	return error;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Take at most @n bytes; lets the driver go on if it held input back. */
static size_t take_input(struct tty *tty, u8 *to, size_t n, bool *end)
{
	unsigned long flags;
	bool resume;
	size_t taken;

	spin_lock_irqsave(&tty->lock, flags);
	taken = line_read(&tty->line, to, n, end);
	resume = tty->throttled && line_has_room(&tty->line);
	if (resume)
		tty->throttled = false;
	spin_unlock_irqrestore(&tty->lock, flags);
	if (resume && tty->resume_input)
		tty->resume_input();
	return taken;
}

static bool is_canonical(const struct tty *tty)
{
	return tty->line.termios.c_lflag & ICANON;
}

/* Bytes that end a read in the other mode. */
static size_t minimum(const struct tty *tty, size_t wanted)
{
	return min_t(size_t, tty->line.termios.c_cc[VMIN], wanted);
}

/*
 * Wait until there is input, after @got bytes. 1: look; 0: the read ends with what it has; -EAGAIN,
 * -ERESTARTSYS.
 */
static int wait_input(struct tty *tty, struct file *file, size_t got)
{
	u64 time = tty->line.termios.c_cc[VTIME] * VTIME_UNIT_NS;
	size_t least = tty->line.termios.c_cc[VMIN];
	s64 left;

	if (line_readable(&tty->line))
		return 1;
	if (!is_canonical(tty) && least == 0 && time == 0)
		return 0;
	if (file->flags & O_NONBLOCK)
		return -EAGAIN;
	/* VTIME bounds the whole wait without VMIN, else the gap behind the first byte. */
	if (is_canonical(tty) || !time || (least && !got))
		return wait_event_interruptible(tty->read_wait, line_readable(&tty->line)) ?: 1;
	left = wait_event_interruptible_timeout(tty->read_wait, line_readable(&tty->line), time);
	return left < 0 ? (int)left : left > 0;
}

/* Under read_lock: bytes moved to @io, or -errno if none. */
static ssize_t read_input(struct tty *tty, struct file *file, struct io *io)
{
	size_t wanted = io->length, got = 0;

	while (got < wanted) {
		u8 chunk[CHUNK];
		bool end;
		size_t n;
		int ready = wait_input(tty, file, got);

		if (ready <= 0)
			return got ? (ssize_t)got : ready;
		n = take_input(tty, chunk, min_t(size_t, wanted - got, CHUNK), &end);
		got += io_put(io, chunk, n);
		if (io->length != wanted - got)
			return -EFAULT;
		if (is_canonical(tty) ? end : end && got >= minimum(tty, wanted))
			break;
	}
	return (ssize_t)got;
}

static ssize_t tty_read(struct file *file, struct io *io, loff_t *position)
{
	struct tty *tty = file->private;
	size_t before = io->length;
	ssize_t result;

	(void)position;
	result = tty_check_background(tty, SIGTTIN);
	if (result)
		return result;
	if (!before)
		return 0;
	if (mutex_lock_interruptible(&tty->read_lock))
		return -ERESTARTSYS;
	result = read_input(tty, file, io);
	mutex_unlock(&tty->read_lock);
	return result;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void emit_console(struct line *line, const char *text, size_t length)
{
	(void)line;
	console_write_raw(text, length);
}

/* Under write_lock. */
static ssize_t write_output(struct tty *tty, struct io *io)
{
	ssize_t written = 0;
	char chunk[CHUNK];
	unsigned long flags;

	while (io->length) {
		size_t n;

		if (wait_event_interruptible(tty->write_wait, !tty->line.stopped))
			return written ?: -ERESTARTSYS;
		n = io_get(io, chunk, min_t(size_t, io->length, CHUNK));
		if (!n)
			return written ?: -EFAULT;
		spin_lock_irqsave(&tty->lock, flags);
		line_write(&tty->line, chunk, n);
		spin_unlock_irqrestore(&tty->lock, flags);
		written += (ssize_t)n;
		cond_resched();
	}
	return written;
}

static ssize_t tty_write(struct file *file, struct io *io, loff_t *position)
{
	struct tty *tty = file->private;
	ssize_t result = 0;

	(void)position;
	if (tty->line.termios.c_lflag & TOSTOP)
		result = tty_check_background(tty, SIGTTOU);
	if (result)
		return result;
	if ((file->flags & O_NONBLOCK) && tty->line.stopped)
		return -EAGAIN;
	if (mutex_lock_interruptible(&tty->write_lock))
		return -ERESTARTSYS;
	result = write_output(tty, io);
	mutex_unlock(&tty->write_lock);
	return result;
}

static unsigned tty_poll(struct file *file, struct poll_table *table)
{
	struct tty *tty = file->private;
	unsigned mask = 0;

	poll_wait(file, &tty->read_wait, table);
	poll_wait(file, &tty->write_wait, table);
	if (line_readable(&tty->line))
		mask |= POLLIN | POLLRDNORM;
	if (!tty->line.stopped)
		mask |= POLLOUT | POLLWRNORM;
	return mask;
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
		tty_take_session(tty, false);
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
	struct tty *tty = &console_tty;
	u64 rows = 0, columns = 0;

	line_init(&tty->line, emit_console);
	if (cmdline_u64("rows", &rows))
		tty->winsize.ws_row = (u16)rows;
	if (cmdline_u64("columns", &columns))
		tty->winsize.ws_col = (u16)columns;
	register_chrdev(TTY_DEV, "tty", 0666, &tty_file_operations);
	register_chrdev(CONSOLE_DEV, "console", 0600, &tty_file_operations);
	register_chrdev(SERIAL_DEV, "ttyS0", 0660, &tty_file_operations);
}
