/*
 * tty.c - the terminal's files: the console on the first serial port, known as /dev/console,
 * /dev/ttyS0 and, to the session that it controls, /dev/tty. There is one.
 *
 *	line.c		the line discipline: what is typed, what is written
 *	session.c	whose it is
 *	settings.c	what programs ask and tell it
 *
 * terminal.h tells how input is kept, and the locks.
 */
#include "kernel/drivers/drivers.h"
#include "kernel/tty/terminal.h"
#include "fs/devfs/special.h"
#include "kernel/tty/tty.h"

#define CHUNK 256

static bool writing; /* one at a time */

/* Characters and ends of file that can be read now. */
static inline u32 waiting(void)
{
	return READ_ONCE(tty.canonical) - READ_ONCE(tty.tail);
}

/*
 * Move at most @n bytes to @to. Canonical: not past the end of a line; *end says that one (or an
 * end of file) was reached. Otherwise *end says that all has been taken.
 */
static size_t take_input(u8 *to, size_t n, bool *end)
{
	size_t taken = 0;

	guard(spinlock_irq, &tty_lock);
	while (waiting() && !*end) {
		u16 c = tty.buffer[tty.tail % TTY_BUFFER];

		/* An end of file right behind a full buffer belongs to this read: it is no line of
		 * its own. */
		if (taken == n && !(c & TTY_END_OF_FILE))
			break;
		if (!(c & TTY_END_OF_FILE))
			to[taken++] = (u8)c;
		tty.tail++;
		*end = c & TTY_LINE_END;
	}
	if (!L_FLAG(ICANON))
		*end = !waiting();
	return taken;
}

/*
 * Wait until there is input, after @got bytes. 1: look; 0: the read ends with what it has; -EAGAIN,
 * -ERESTARTSYS.
 */
static int wait_input(struct file *file, size_t got)
{
	bool canonical = L_FLAG(ICANON);
	u64 time = tty.termios.c_cc[VTIME] * 100 * NSEC_PER_MSEC;
	size_t least = tty.termios.c_cc[VMIN];

	if (waiting())
		return 1;
	if (!canonical && !least && !time)
		return 0;
	if (file->flags & O_NONBLOCK)
		return -EAGAIN;
	/* VTIME bounds the whole wait without VMIN, else the gap behind the first byte. */
	if (canonical || !time || (least && !got))
		return wait_event_interruptible(tty_wait, waiting()) ?: 1;
	return wait_event_until(tty_wait, waiting(), TASK_INTERRUPTIBLE, ktime_ns() + time);
}

static ssize_t tty_read(struct file *file, struct io *io, loff_t *position)
{
	size_t wanted = io->length, got = 0;
	bool end = false;

	TRY(tty_check_background(SIGTTIN));
	while (got < wanted && !end) {
		int ready = wait_input(file, got);
		u8 chunk[CHUNK];

		if (ready <= 0)
			return got ? (ssize_t)got : ready;
		size_t n = take_input(chunk, min_t(size_t, wanted - got, CHUNK), &end);

		tty_drain(NULL); /* what waited for room */
		got += n;
		if (io_put(io, chunk, n) < n)
			return -EFAULT;
		/* Without lines, VMIN bytes end a read that has taken all there is. */
		if (!L_FLAG(ICANON))
			end = end && got >= min_t(size_t, tty.termios.c_cc[VMIN], wanted);
	}
	return (ssize_t)got;
}

static ssize_t tty_write(struct file *file, struct io *io, loff_t *position)
{
	size_t wanted = io->length;
	int error = 0;

	if (L_FLAG(TOSTOP))
		TRY(tty_check_background(SIGTTOU));
	TRY(file_wait(file, tty_wait, !xchg(&writing, true)));
	while (io->length && !error) {
		char chunk[CHUNK];

		cond_resched();
		error = signal_pending(current) ? -ERESTARTSYS
						: file_wait(file, tty_wait, !tty.stopped);
		if (error)
			break;
		size_t n = io_get(io, chunk, min_t(size_t, io->length, CHUNK));

		error = n ? 0 : -EFAULT;
		guard(spinlock_irq, &tty_lock);
		tty_output(chunk, n);
	}
	smp_store_release(&writing, false);
	wake_up(&tty_wait);
	return io->length < wanted ? (ssize_t)(wanted - io->length) : error;
}

static unsigned tty_poll(struct file *file, struct poll_table *table)
{
	bool counted = !L_FLAG(ICANON) && !tty.termios.c_cc[VTIME];
	unsigned events = 0, least = counted ? max_t(u8, tty.termios.c_cc[VMIN], 1) : 1;

	poll_wait(file, &tty_wait, table);
	if (waiting() >= least)
		events |= POLLIN | POLLRDNORM;
	if (!tty.stopped)
		events |= POLLOUT | POLLWRNORM;
	return events;
}

static int tty_open(struct inode *inode, struct file *file)
{
	if (inode->rdev == TTY_DEV && !tty_is_ours())
		return -ENXIO;
	/* As in Linux, /dev/console never becomes a controlling terminal by being opened, and none
	 * does for who may not read it. */
	if (inode->rdev == SERIAL_DEV && !(file->flags & O_NOCTTY) && !tty.session &&
	    file->mode & FMODE_READ)
		tty_take_session(TAKE_FREE);
	return 0;
}

void tty_init(void)
{
	static const struct file_operations operations = {
		.open = tty_open,
		.read = tty_read,
		.write = tty_write,
		.poll = tty_poll,
		.ioctl = tty_ioctl,
	};
	u64 rows = 0, columns = 0;

	cmdline_u64("rows", &rows);
	cmdline_u64("columns", &columns);
	tty.winsize = (struct winsize){.ws_row = (u16)rows, .ws_col = (u16)columns};
	register_chrdev(TTY_DEV, "tty", 0666, &operations);
	register_chrdev(CONSOLE_DEV, "console", 0600, &operations);
	register_chrdev(SERIAL_DEV, "ttyS0", 0660, &operations);
	tty_session_init();
	serial_on_input(tty_drain);
	tty_drain(NULL); /* what was typed before: its edge is past */
}
