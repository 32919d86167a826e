/*
 * tty.h - the terminal: the console on the first serial port, with a line discipline, a session and
 * a foreground group (tty.c).
 *
 * There is one, known as /dev/console, /dev/ttyS0 and, to the session that it controls, /dev/tty. A
 * process's controlling terminal is the one whose session is its own.
 */
#pragma once

#include "kernel/core/types.h"

/* The leader of @session ends: SIGHUP and SIGCONT to the foreground group; the terminal is free
 * again. */
void tty_session_ended(pid_t session);

/* For /proc/PID/stat: the device number of @session's terminal, or 0; *foreground its group, or -1.
 */
u32 tty_of_session(pid_t session, pid_t *foreground);
