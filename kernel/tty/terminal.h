/*
 * terminal.h - private to kernel/tty: the terminal, and Linux's numbers for terminals.
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
 * Locks: tty_lock (interrupts off) -> console lock, process_lock, those of wait queues.
 */
#pragma once

#include "core/signal.h"
#include "fs/file/file.h"
#include "fs/inode/inode.h"

/* ---- Linux's numbers ---------------------------------------------------------------------------
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

#define TTY_DEV MKDEV(5, 0)
#define CONSOLE_DEV MKDEV(5, 1)
#define SERIAL_DEV MKDEV(4, 64)

#define TTY_BUFFER 4096	   /* a power of two: counters wrap */
#define TTY_LINE_END 0x100 /* marks beside a character in the ring */
#define TTY_END_OF_FILE 0x200

extern wait_queue_head_t tty_wait; /* input, new settings, output going on after ^S, who writes */
extern spinlock_t tty_lock;	   /* all of it, but that settings and size are read without: */
struct terminal {
	struct termios termios;
	struct winsize winsize;
	u32 head, canonical, tail;
	u16 buffer[TTY_BUFFER];
	bool literal;	  /* the next character is taken as it is */
	bool stopped;	  /* by ^S */
	pid_t session;	  /* it controls; 0: none */
	pid_t foreground; /* process group that may read and gets the signals; 0: none */
};
extern struct terminal tty;

#define I_FLAG(flag) (tty.termios.c_iflag & (flag))
#define L_FLAG(flag) (tty.termios.c_lflag & (flag))

/* line.c. Text to the screen, as the output flags say. tty_lock held. */
void tty_output(const char *text, size_t length);
/* All that was typed and not read is forgotten. tty_lock held. */
void tty_flush_input(void);
/* Take what the UART holds, as long as there is room: on its interrupt, and when a reader or a
 * flush has made some. Takes tty_lock. Any context. */
void tty_drain(void *unused);

/* session.c. May the current task, if it is in a background group of the terminal's session, do
 * what @signo (SIGTTIN, SIGTTOU) stands for? 0: yes. -ERESTARTSYS: its group has been sent the
 * signal. -EIO: no. */
int tty_check_background(int signo);
/* May the current session leader take the terminal from another session? */
enum take { TAKE_FREE, TAKE_FROM_OTHERS };
/* It takes it: 0 or -EPERM. */
int tty_take_session(enum take take);
/* Is it the terminal of the current process? */
bool tty_is_ours(void);
/* The leader of @session, or of whichever has the terminal, gives it up: SIGHUP and SIGCONT to the
 * foreground group; the terminal is free again. Takes tty_lock. */
void tty_session_ended(pid_t session);
/* Tell kernel/proc that there is a terminal. */
void tty_session_init(void);

/* settings.c */
s64 tty_ioctl(struct file *file, unsigned command, u64 argument);
