/*
 * drivers.h - starting the drivers, in the order main.c needs; the terminal's session.
 */
#pragma once

/* The serial ports, polled: before anything else, so that even the first panic is seen. */
void serial_early_init(void);

/* Devices of memory, the terminal, disks. After the VFS, the scheduler and interrupts are up. */
void mem_devices_init(void);
void tty_init(void);
void ramdisk_init(void);
void virtio_blk_init(void);

/*
 * The terminal: the console on the first serial port, with a line discipline, a session and a
 * foreground group (tty.c). There is one, known as /dev/console, /dev/ttyS0 and, to the session
 * that it controls, /dev/tty. A process's controlling terminal is the one whose session is its own.
 */

/* The leader of @session ends: SIGHUP and SIGCONT to the foreground group; the terminal is free
 * again. */
void tty_session_ended(pid_t session);

/* For /proc/PID/stat: the device number of @session's terminal, or 0; *foreground its group, or -1.
 */
u32 tty_of_session(pid_t session, pid_t *foreground);
