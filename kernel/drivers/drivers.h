/*
 * drivers.h - starting the drivers, in the order main.c needs; input from the first serial port.
 */
#pragma once

#include "core/base/types.h"

/* The serial ports, polled: before anything else, so that even the first panic is seen. */
void serial_early_init(void);

/* A character that has arrived for the console; false: there is none. The caller takes care that
 * one at a time asks. Any context. */
bool serial_read(u8 *c);

/* Have arrived(NULL) called, in an interrupt, when something has; once. */
void serial_on_input(void (*arrived)(void *unused));

/* Devices of memory, disks. After the VFS, the scheduler and interrupts are up. */
void mem_devices_init(void);
void ramdisk_init(void);
void virtio_blk_init(void);
