/*
 * tty_ioctl.h - a terminal's settings (ioctl), and what tty.c and tty_ioctl.c need of each other.
 */
#pragma once

#include "kernel/core/types.h"

struct file;
struct tty;

/* ioctl(2) on a terminal; -ENOTTY for commands that are not there. */
s64 tty_ioctl(struct file *file, unsigned command, u64 argument);

/*
 * May the current task, if it is in a background group of the terminal's session, do what @signo
 * (SIGTTIN, SIGTTOU) stands for? 0: yes. -ERESTARTSYS: its group has been sent the signal. -EIO:
 * no.
 */
int tty_check_background(struct tty *tty, int signo);

/* The current session leader takes the terminal: 0 or -EPERM. @steal: from another session too. */
int tty_take_session(struct tty *tty, bool steal);
