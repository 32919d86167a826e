/*
 * tty.h - the terminal: a line discipline (line.c) with readers, writers, settings, a session and a
 * foreground group (tty.c).
 *
 * There is one: the console on the first serial port, known as /dev/console, /dev/ttyS0 and, to the
 * session that it controls, /dev/tty. A process's controlling terminal is the one whose session is
 * its own.
 *
 * Locks: read_lock and write_lock (mutexes: one reader, one writer at a time) -> lock (spinlock,
 * interrupts off: all that follows it) -> console lock. Signals are sent with none held.
 *
 * Input is kept in a ring of TTY_BUFFER characters:
 *
 *	tail ........ canonical ........ head		(free-running counters)
 *	     readable            being edited
 *
 * In canonical mode a reader sees what lies before `canonical`; the last character of a line is
 * marked, and an end-of-file character is a marked one that is not handed out. In the other mode it
 * sees all.
 */
#pragma once

#include "kernel/drivers/termios.h"

#define TTY_BUFFER 4096	   /* a power of two: counters wrap */
#define TTY_LINE_END 0x100 /* marks beside a character in the ring */
#define TTY_END_OF_FILE 0x200

struct tty {
	struct mutex read_lock, write_lock;
	wait_queue_head_t wait; /* input, new settings, output going on after ^S */

	spinlock_t lock;
	struct ktermios termios;
	struct winsize winsize;
	u32 head, canonical, tail;
	u16 buffer[TTY_BUFFER];
	unsigned column;       /* where output stands */
	unsigned start_column; /* where the line being edited began */
	bool literal;	       /* the next character is taken as it is */
	bool stopped;	       /* by ^S */
	bool throttled;	       /* the driver holds input back */
	pid_t session;	       /* it controls; 0: none */
	pid_t foreground;      /* process group that may read and gets the signals; 0: none */

	/* The driver: look for input again, there is room. Called without locks. */
	void (*resume_input)(void *unused);
};

extern struct tty console_tty;

/* ---- for the driver and for processes (tty.c) ------------------------------------------------ */

/* The driver received @c. Interrupts off. */
void tty_receive(struct tty *tty, u8 c);

/* Is there no room for another character? Then resume_input() will be called when there is. */
bool tty_throttled(struct tty *tty);

/* The leader of @session ends: SIGHUP and SIGCONT to the foreground group; the terminal is free
 * again. */
void tty_session_ended(pid_t session);

/* For /proc/PID/stat: the device number of @session's terminal, or 0; *foreground its group, or -1.
 */
u32 tty_of_session(pid_t session, pid_t *foreground);

/* ---- the line discipline (line.c); tty->lock held, except to init ---------------------------- */

#define LINE_STATUS 0x80 /* ^T */

void line_init(struct tty *tty);

/* A character arrived: the signal for the foreground group, LINE_STATUS, or 0. */
int line_receive(struct tty *tty, u8 c);

/* Does another character fit, or is there a line being edited that may be cut? */
bool line_has_room(const struct tty *tty);

/* Would a read return at once (data, or an end of file)? Needs no lock. */
bool line_readable(const struct tty *tty);

/* Bytes that can be read now (FIONREAD); canonical: of all whole lines. */
int line_available(const struct tty *tty);

/*
 * Move at most @n bytes to @to. Canonical: not past the end of a line; *end says that one (or an
 * end of file) was reached. Otherwise *end says that all has been taken.
 */
size_t line_read(struct tty *tty, u8 *to, size_t n, bool *end);

/* A program's output, through OPOST. */
void line_write(struct tty *tty, const char *text, size_t length);

/* Forget all input. */
void line_flush(struct tty *tty);

/* Take new settings: what was typed becomes readable when canonical mode ends, a line when it
 * begins. */
void line_set_termios(struct tty *tty, const struct ktermios *termios);
