/*
 * tty.h - starting the terminal.
 */
#pragma once

/* Its devices, and its input. After the VFS, the scheduler and interrupts are up. */
void tty_init(void);
