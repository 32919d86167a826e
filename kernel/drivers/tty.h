/*
 * tty.h - terminals: a line discipline (line.h) with readers, writers, a session and a foreground
 * group.
 *
 * There is one: the console on the first serial port, known as /dev/console, /dev/ttyS0 and, to the
 * session that it controls, /dev/tty. A process's controlling terminal is the one whose session is
 * its own.
 *
 * Locks: read_lock and write_lock (mutexes: one reader, one writer at a time) -> lock (spinlock,
 * interrupts off: all of `line`, session, foreground, throttled) -> console lock. Signals are sent
 * with none held.
 */
#pragma once

#include "kernel/core/mutex.h"
#include "kernel/core/spinlock.h"
#include "kernel/core/wait.h"
#include "kernel/drivers/line.h"

struct tty {
	struct mutex read_lock, write_lock;
	wait_queue_head_t read_wait;  /* input, or new settings */
	wait_queue_head_t write_wait; /* output goes on after ^S */

	spinlock_t lock;
	struct line line;
	struct winsize winsize;
	pid_t session;	  /* it controls; 0: none */
	pid_t foreground; /* process group that may read and gets the signals; 0: none */
	bool throttled;	  /* the driver holds input back */

	/* The driver: look for input again, there is room. Called without locks. */
	void (*resume_input)(void);
};

extern struct tty console_tty;

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
