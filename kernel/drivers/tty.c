/*
 * tty.c - the console: the serial ports, and on one of them a terminal: its line discipline
 * (termios(3)), its files, who may use them, where its signals go, and its settings (ioctl). See
 * drivers.h.
 *
 * Input is kept in a ring of TTY_BUFFER characters:
 *
 *	tail ........ canonical ........ head		(free-running counters)
 *	     readable            being edited
 *
 * In canonical mode the last character of a line is marked, and an end-of-file character is a
 * marked one that is not handed out. In the other mode all is readable. What finds no room is left
 * in the UART until a reader has made some.
 *
 * The order of tests on an arriving character is that of Linux's n_tty: mapping, literal next, flow
 * control, signals, then editing or plain input. Not done: other ends of a line than a newline
 * (VEOL, VEOL2), ISTRIP, INLCR, IGNCR, mapping of case, ECHOPRT, parity and break handling, delays,
 * and of output mapping all but ONLCR; those flags read back as off, and ECHOE, ECHOK and ECHOKE as
 * on. Output is written at once, so "wait until it is drained" (TCSETSW, TCSBRK) is true when it is
 * asked. Programs do not stop it (no TCXONC), nor see speeds as numbers (no TCGETS2): -ENOTTY. A
 * process that is no session leader cannot give the terminal up (TIOCNOTTY is -EPERM; it can call
 * setsid).
 *
 * Locks: tty_lock (interrupts off) -> console lock, process_lock, those of wait queues.
 */
#include <arch/io.h>

#include "fs/cred.h"
#include "fs/devfs/special.h"
#include "fs/file/file.h"
#include "hash/cache.h"
#include "kernel/drivers/drivers.h"

enum { SIGHUP = 1, SIGINT, SIGQUIT, SIGCONT = 18, SIGTSTP = 20, SIGTTIN, SIGTTOU, SIGWINCH = 28 };

/* ---- the serial ports ------------------------------------------------------------------------
 *
 * 16550 UARTs: COM1 carries the console, COM2 the control port. Output is polled: one look at the
 * line status when the transmit FIFO may be full, then a burst of 16 bytes. There is no transmit
 * interrupt: a virtual UART takes bytes at once, and a burst costs fewer instructions than an
 * interrupt. Callers hold the console lock (printk.c), the control port's (export.c) or the
 * terminal's, so ports need none.
 */

#define COM1 0x3f8
#define COM1_IRQ 4
#define COM2 0x2f8

static u16 ports[2]; /* of enum serial_line; 0: there is no UART */

/* Registers and their bits: National Semiconductor PC16550D data sheet, table 2. */
enum { UART_DATA, INTERRUPT_ENABLE, FIFO_CONTROL, LINE_CONTROL, MODEM_CONTROL, UART_LINE_STATUS };
enum { UART_SCRATCH = 7 };
enum { IER_RECEIVE = 0x01, FCR_ENABLE_AND_CLEAR = 0x07, LCR_8N1 = 0x03, LCR_DIVISOR = 0x80 };
enum { MCR_DTR_RTS_OUT2 = 0x0b, LSR_DATA_READY = 0x01, LSR_TRANSMIT_EMPTY = 0x20 };

#define FIFO_BYTES 16
#define POLLS_MAX 10000000 /* then the byte is lost: a wedged UART must not wedge the kernel */

void serial_write(enum serial_line line, const char *text, size_t length)
{
	u16 port = ports[line];

	while (port && length) {
		size_t burst = min_t(size_t, length, FIFO_BYTES);
		unsigned polls = 0;

		while (!(inb(port + UART_LINE_STATUS) & LSR_TRANSMIT_EMPTY) && ++polls < POLLS_MAX)
			cpu_relax();
		length -= burst;
		outsb(port + UART_DATA, text, burst);
		text += burst;
	}
}

/* 115200 baud, 8 bits, no parity. @port, or 0 if there is no UART. */
static u16 serial_setup(u16 port)
{
	outb(0x5a, port + UART_SCRATCH);
	if (inb(port + UART_SCRATCH) != 0x5a)
		return 0;
	outb(0, port + INTERRUPT_ENABLE);
	outb(LCR_DIVISOR | LCR_8N1, port + LINE_CONTROL);
	outb(1, port + UART_DATA);
	outb(0, port + INTERRUPT_ENABLE);
	outb(LCR_8N1, port + LINE_CONTROL);
	outb(FCR_ENABLE_AND_CLEAR, port + FIFO_CONTROL);
	outb(MCR_DTR_RTS_OUT2, port + MODEM_CONTROL);
	return port;
}

void serial_early_init(void)
{
	ports[CONSOLE] = serial_setup(COM1);
	ports[CONTROL] = serial_setup(COM2);
}

/* ---- Linux's numbers for terminals -------------------------------------------------------------
 *
 * (asm-generic/termbits.h, ioctls.h), which programs are compiled with, and its struct termios as
 * the ioctls copy it. Only what the line discipline does; the settings of a line (speed, parity,
 * breaks) are kept for the program and mean nothing.
 */

#define NCCS 19

struct termios {
	u32 c_iflag, c_oflag, c_cflag, c_lflag;
	u8 c_line;
	u8 c_cc[NCCS];
};
_Static_assert(sizeof(struct termios) == 36, "Linux's struct termios");

struct winsize {
	u16 ws_row, ws_col, ws_xpixel, ws_ypixel;
};

/* c_cc; a character that is 0 is off */
enum { VINTR, VQUIT, VERASE, VKILL, VEOF, VTIME, VMIN, VSTART = 8, VSTOP, VSUSP, VEOL, VREPRINT };
enum { VWERASE = 14, VLNEXT, VEOL2 };

/* c_iflag; missing are ISTRIP, INLCR, IGNCR, IUCLC and IXANY, which read back as off */
enum { ICRNL = 0x100, IXON = 0x400, IMAXBEL = 0x2000, IUTF8 = 0x4000 };
#define IFLAG_MISSING 0xae0u

/* c_oflag: all others read back as off */
enum { OPOST = 1, ONLCR = 4 };

/* c_cflag: B115200 CS8 CREAD HUPCL CLOCAL; what a virtual line runs at is nobody's choice */
#define CFLAG_DEFAULT (0x1002 | 0x30 | 0x80 | 0x400 | 0x800)

/* c_lflag, likewise, but that what is erased always vanishes from the screen */
enum { ISIG = 1, ICANON = 2, ECHO = 8, ECHOE = 0x10, ECHOK = 0x20, ECHONL = 0x40, NOFLSH = 0x80 };
enum { TOSTOP = 0x100, ECHOCTL = 0x200, ECHOKE = 0x800, IEXTEN = 0x8000 };
#define LFLAG_ALWAYS (ECHOE | ECHOK | ECHOKE)
#define LFLAG_DONE (ISIG | ICANON | ECHO | ECHONL | NOFLSH | TOSTOP | ECHOCTL | IEXTEN)

/* ioctl commands; between TCSETS and TCSETSF lies TCSETSW */
enum { TCGETS = 0x5401, TCSETS, TCSETSF = 0x5404, TCSBRK = 0x5409, TCFLSH = 0x540b };
enum { TIOCSCTTY = 0x540e, TIOCGPGRP, TIOCSPGRP, TIOCOUTQ, TIOCGWINSZ = 0x5413, TIOCSWINSZ };
enum { TIOCNOTTY = 0x5422, TIOCGSID = 0x5429 };

enum { TCIFLUSH, TCOFLUSH, TCIOFLUSH }; /* of TCFLSH */

/* ---- the terminal ---------------------------------------------------------------------------- */

#define CHUNK 256

#define TTY_DEV MKDEV(5, 0)
#define CONSOLE_DEV MKDEV(5, 1)
#define SERIAL_DEV MKDEV(4, 64)

#define TTY_BUFFER 4096	   /* a power of two: counters wrap */
#define TTY_LINE_END 0x100 /* marks beside a character in the ring */
#define TTY_END_OF_FILE 0x200

#define KEY_STATUS 0x14 /* ^T: not in termios of Linux, which lacks VSTATUS */

static DEFINE_WAIT_QUEUE(tty_wait); /* input, new settings, output going on after ^S, `writing` */
static bool writing;		    /* one at a time */
static DEFINE_SPINLOCK(tty_lock);   /* all of it: */
static struct {
	struct termios termios;
	struct winsize winsize;
	u32 head, canonical, tail;
	u16 buffer[TTY_BUFFER];
	bool literal;	  /* the next character is taken as it is */
	bool stopped;	  /* by ^S */
	pid_t session;	  /* it controls; 0: none */
	pid_t foreground; /* process group that may read and gets the signals; 0: none */
} tty = {
	.termios =
		{
			.c_iflag = ICRNL | IXON | IUTF8,
			.c_oflag = OPOST | ONLCR,
			.c_cflag = CFLAG_DEFAULT,
			.c_lflag = ISIG | ICANON | ECHO | ECHOCTL | IEXTEN | LFLAG_ALWAYS,
			.c_cc = "\003\034\177\025\004\0\1\0\021\023\032\0\022\017\027\026",
		},
};

#define I_FLAG(flag) (tty.termios.c_iflag & (flag))
#define L_FLAG(flag) (tty.termios.c_lflag & (flag))

static inline u8 char_at(u32 position)
{
	return (u8)tty.buffer[position % TTY_BUFFER];
}

static inline bool is_control(u8 c)
{
	return (c < ' ' && c != '\t') || c == 0x7f;
}

static inline bool is_continuation(u8 c)
{
	return I_FLAG(IUTF8) && (c & 0xc0) == 0x80;
}

/* ---- output and echo ------------------------------------------------------------------------- */

/* Lock held, as in all that follows up to the files. */
static void output(const char *text, size_t length)
{
	console_write(text, length, tty.termios.c_oflag & OPOST && tty.termios.c_oflag & ONLCR);
}

/* A character of the line; a newline here does not end one. */
static void echo(u8 c)
{
	const char pair[2] = {'^', (char)(c ^ 0x40)};
	bool as_pair = L_FLAG(ECHOCTL) && is_control(c);

	if (L_FLAG(ECHO))
		output(as_pair ? pair : (const char *)&c, as_pair ? 2 : 1);
}

/* ---- editing --------------------------------------------------------------------------------- */

/* The line on a new line of the screen. */
static void reprint(void)
{
	output("\n", 1);
	for (u32 at = tty.canonical; at != tty.head; at++)
		echo(char_at(at));
}

/* VERASE: the last character; VWERASE: back over what is no word, then over the word; VKILL: all.
 * A tab's width is not known, so then the line is printed again. */
static void erase(unsigned key)
{
	bool in_word = false, tab = false;

	while (tty.head != tty.canonical) {
		u32 at = tty.head - 1; /* where the last character begins, all bytes of it */

		while (at != tty.canonical && is_continuation(char_at(at)))
			at--;
		u8 c = char_at(at);
		bool word = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
			    c == '_' || c >= 0x80; /* of letters beyond ASCII all are */

		if (is_continuation(c) || (key == VWERASE && in_word && !word))
			break;
		in_word |= word;
		tab |= c == '\t';
		tty.head = at;
		if (L_FLAG(ECHO) && c != '\t')
			output("\b \b\b \b", is_control(c) && L_FLAG(ECHOCTL) ? 6 : 3);
		if (key == VERASE)
			break;
	}
	if (L_FLAG(ECHO) && tab)
		reprint();
}

/* ---- input ----------------------------------------------------------------------------------- */

/* Is there room? One place is kept for the end of the line. */
static bool put(unsigned c)
{
	if (tty.head - tty.tail >= TTY_BUFFER - (c & TTY_LINE_END ? 0u : 1u))
		return false;
	tty.buffer[tty.head++ % TTY_BUFFER] = (u16)c;
	if (c & TTY_LINE_END || !L_FLAG(ICANON))
		tty.canonical = tty.head;
	return true;
}

static void flush_input(void)
{
	tty.tail = tty.canonical = tty.head;
	tty.literal = false;
}

#define NEWLINE NCCS	  /* no character of c_cc, but a key all the same */
#define NO_KEY (NCCS + 1) /* an ordinary character */

/* Which control character @c is: the first of these whose flags are all on. */
static unsigned key_of(u8 c)
{
	static const struct {
		u8 key;
		u16 flags; /* local ones, and IXON, whose place among those LFLAG_DONE leaves off */
	} keys[] = {
		{VSTART, IXON},
		{VSTOP, IXON},
		{VINTR, ISIG},
		{VQUIT, ISIG},
		{VSUSP, ISIG},
		{VERASE, ICANON},
		{VKILL, ICANON},
		{VWERASE, ICANON | IEXTEN},
		{VREPRINT, ICANON | IEXTEN | ECHO},
		{VLNEXT, ICANON | IEXTEN},
		{VEOF, ICANON},
	};
	u32 off = ~(tty.termios.c_lflag | I_FLAG(IXON));

	if (c == '\n' && L_FLAG(ICANON))
		return NEWLINE;
	for (unsigned i = 0; c && i < ARRAY_SIZE(keys); i++)
		if (c == tty.termios.c_cc[keys[i].key] && !(keys[i].flags & off))
			return keys[i].key;
	return NO_KEY;
}

/*
 * Does @c, ^T, ask for the caches' report? Where keys are signals, and at the prompt of the shell
 * that leads the session, whose line editor has turned them off. Any other program in the
 * foreground that has done so (an editor) gets the key.
 */
static bool is_status_key(u8 c)
{
	bool prompt = tty.session && tty.foreground == tty.session;

	return c == KEY_STATUS && !tty.literal && (L_FLAG(ISIG) || prompt);
}

/* A character arrived. */
static void receive(u8 c)
{
	static const u8 signals[] = {[VINTR] = SIGINT, [VQUIT] = SIGQUIT, [VSUSP] = SIGTSTP};
	bool literal = tty.literal, enter = c == '\r' && I_FLAG(ICRNL) && !literal;
	unsigned key;

	if (is_status_key(c)) {
		hash_report_request();
		return;
	}
	tty.literal = false;
	if (enter)
		c = '\n';
	switch (key = literal ? NO_KEY : key_of(c)) {
	case VSTART:
	case VSTOP:
		tty.stopped = key == VSTOP;
		break;
	case VINTR:
	case VQUIT:
	case VSUSP:
		tty.stopped = false;
		if (!L_FLAG(NOFLSH))
			flush_input();
		echo(c);
		if (tty.foreground)
			signal_pgrp(tty.foreground, signals[key]);
		break;
	case VERASE:
	case VKILL:
	case VWERASE:
		erase(key);
		break;
	case VREPRINT:
		echo(c);
		reprint();
		break;
	case VLNEXT:
		tty.literal = true;
		if (L_FLAG(ECHO) && L_FLAG(ECHOCTL))
			output("^\b", 2);
		break;
	case NEWLINE:
		if (L_FLAG(ECHO | ECHONL))
			output("\n", 1);
		put('\n' | TTY_LINE_END);
		break;
	case VEOF:
		put(TTY_END_OF_FILE | TTY_LINE_END);
		break;
	default:
		if (!put(c)) {
			if (I_FLAG(IMAXBEL))
				output("\a", 1);
		} else if (enter && L_FLAG(ECHO)) {
			output("\n", 1); /* without canonical mode, too, it shows as a new line */
		} else {
			echo(c);
		}
	}
}

/* Take what the UART holds, as long as there is room: on its interrupt, and when a reader or a
 * flush has made some. A full buffer without a whole line would never be read, so then the line is
 * cut instead. The UART keeps its edge-triggered line up while it holds anything. */
static void drain(void *unused)
{
	guard(spinlock_irqsave, &tty_lock);
	while ((tty.head - tty.tail < TTY_BUFFER - 1 || tty.canonical == tty.tail) &&
	       ports[CONSOLE] && inb(COM1 + UART_LINE_STATUS) & LSR_DATA_READY)
		receive(inb(COM1 + UART_DATA));
	wake_up(&tty_wait);
}

/* ---- who may --------------------------------------------------------------------------------- */

/*
 * May the current task, if it is in a background group of the terminal's session, do what @signo
 * (SIGTTIN, SIGTTOU) stands for? 0: yes. -ERESTARTSYS: its group has been sent the signal. -EIO:
 * no.
 */
static int check_background(int signo)
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
		signal_pgrp(tty.foreground, SIGHUP);
		signal_pgrp(tty.foreground, SIGCONT);
	}
	tty.session = tty.foreground = 0;
}

u32 tty_of_session(pid_t session, pid_t *foreground)
{
	bool ours = session && READ_ONCE(tty.session) == session;

	*foreground = ours ? READ_ONCE(tty.foreground) : -1;
	return ours ? SERIAL_DEV : 0;
}

/* The current session leader takes the terminal: 0 or -EPERM. @steal: from another session too. */
static int take_session(bool steal)
{
	pid_t session = current_session(), group = current_pgrp();

	if (current_session() != sys_getpid())
		return -EPERM;
	guard(spinlock_irq, &tty_lock);
	if (tty.session == session)
		return 0;
	if (tty.session && !steal)
		return -EPERM;
	tty.session = session;
	tty.foreground = group;
	return 0;
}

/* ---- reading and writing --------------------------------------------------------------------- */

static inline bool readable(void)
{
	return READ_ONCE(tty.canonical) != READ_ONCE(tty.tail);
}

/*
 * Move at most @n bytes to @to. Canonical: not past the end of a line; *end says that one (or an
 * end of file) was reached. Otherwise *end says that all has been taken.
 */
static size_t take_input(u8 *to, size_t n, bool *end)
{
	size_t taken = 0;

	guard(spinlock_irq, &tty_lock);
	while (readable() && !*end) {
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
		*end = !readable();
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

	if (readable())
		return 1;
	if (!canonical && !least && !time)
		return 0;
	if (file->flags & O_NONBLOCK)
		return -EAGAIN;
	/* VTIME bounds the whole wait without VMIN, else the gap behind the first byte. */
	if (canonical || !time || (least && !got))
		return wait_event_interruptible(tty_wait, readable()) ?: 1;
	return wait_event_until(tty_wait, readable(), TASK_INTERRUPTIBLE, ktime_ns() + time);
}

static ssize_t tty_read(struct file *file, struct io *io, loff_t *position)
{
	size_t wanted = io->length, got = 0;
	bool end = false;

	TRY(check_background(SIGTTIN));
	while (got < wanted && !end) {
		int ready = wait_input(file, got);
		u8 chunk[CHUNK];

		if (ready <= 0)
			return got ? (ssize_t)got : ready;
		size_t n = take_input(chunk, min_t(size_t, wanted - got, CHUNK), &end);

		drain(NULL); /* what waited for room */
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
		TRY(check_background(SIGTTOU));
	if (file->flags & O_NONBLOCK && tty.stopped)
		return -EAGAIN;
	TRY(wait_event_interruptible(tty_wait, !xchg(&writing, true)));
	while (io->length && !error) {
		char chunk[CHUNK];

		cond_resched();
		error = wait_event_interruptible(tty_wait, !tty.stopped);
		if (error)
			break;
		size_t n = io_get(io, chunk, min_t(size_t, io->length, CHUNK));

		error = n ? 0 : -EFAULT;
		guard(spinlock_irq, &tty_lock);
		output(chunk, n);
	}
	smp_store_release(&writing, false);
	wake_up(&tty_wait);
	return io->length < wanted ? (ssize_t)(wanted - io->length) : error;
}

static unsigned tty_poll(struct file *file, struct poll_table *table)
{
	poll_wait(file, &tty_wait, table);
	return (readable() ? POLLIN | POLLRDNORM : 0) | (tty.stopped ? 0 : POLLOUT | POLLWRNORM);
}

/* ---- settings -------------------------------------------------------------------------------- */

static int set_termios(const void __user *from, bool flush)
{
	struct termios termios;

	TRY(read_user(&termios, from, sizeof(termios)));
	termios.c_iflag &= ~IFLAG_MISSING;
	termios.c_oflag &= OPOST | ONLCR;
	termios.c_lflag = (termios.c_lflag & LFLAG_DONE) | LFLAG_ALWAYS;
	spin_lock_irq(&tty_lock);
	if (flush)
		flush_input();
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
	drain(NULL); /* into the room of what was flushed; what is readable may be another thing */
	return 0;
}

static int set_winsize(const void __user *from)
{
	struct winsize size, before = tty.winsize;

	TRY(read_user(&size, from, sizeof(size)));
	tty.winsize = size;
	if (tty.foreground && memcmp(&size, &before, sizeof(size)))
		signal_pgrp(tty.foreground, SIGWINCH);
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

static s64 tty_ioctl(struct file *file, unsigned command, u64 argument)
{
	void __user *user = (void __user *)(uintptr_t)argument;
	pid_t __user *id = user;
	pid_t group, session;

	switch (command) { /* what changes the terminal a background group may not do unasked */
	case TCSETS ... TCSETSF:
	case TCSBRK ... TCFLSH:
	case TIOCSPGRP:
		TRY(check_background(SIGTTOU));
	}
	switch (command) {
	case TCGETS:
		return write_user(user, &tty.termios, sizeof(tty.termios));
	case TCSETS ... TCSETSF:
		return set_termios(user, command == TCSETSF);
	case TIOCGWINSZ:
		return write_user(user, &tty.winsize, sizeof(tty.winsize));
	case TIOCSWINSZ:
		return set_winsize(user);
	case TCSBRK:
		return 0;
	case TCFLSH:
		spin_lock_irq(&tty_lock);
		if (argument == TCIFLUSH || argument == TCIOFLUSH)
			flush_input();
		spin_unlock_irq(&tty_lock);
		drain(NULL);
		return argument > TCIOFLUSH ? -EINVAL : 0; /* output never waits */
	case FIONREAD:
		return put_user(count_readable(), (int __user *)user);
	case TIOCOUTQ: /* nothing ever waits */
		return put_user(0, (int __user *)user);
	case TIOCSCTTY:
		return take_session(argument == 1 && current->cred->euid == 0);
	}
	if (!tty.session || tty.session != current_session())
		return -ENOTTY;
	switch (command) { /* what a process may ask of its controlling terminal only */
	case TIOCNOTTY:
		if (current_session() != sys_getpid())
			return -EPERM;
		tty_session_ended(tty.session);
		return 0;
	case TIOCGPGRP:
		return put_user(tty.foreground, id);
	case TIOCSPGRP:
		TRY(get_user(group, id));
		session = group < 0 ? 0 : pgrp_session(group);
		if (session != current_session())
			return group < 0 ? -EINVAL : session ? -EPERM : -ESRCH;
		tty.foreground = group;
		return 0;
	case TIOCGSID:
		return put_user(tty.session, id);
	}
	return -ENOTTY;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int tty_open(struct inode *inode, struct file *file)
{
	if (inode->rdev == TTY_DEV && (!tty.session || tty.session != current_session()))
		return -ENXIO;
	/* As in Linux, /dev/console never becomes a controlling terminal by being opened. */
	if (inode->rdev == SERIAL_DEV && !(file->flags & O_NOCTTY) && !tty.session)
		take_session(false);
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
	irq_request_isa(COM1_IRQ, drain, NULL);
	outb(IER_RECEIVE, COM1 + INTERRUPT_ENABLE);
	drain(NULL); /* what was typed before: its edge is past */
}
