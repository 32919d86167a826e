/*
 * drivers.h - starting the drivers, in the order main.c needs.
 */
#pragma once

#include "kernel/core/types.h"

/* The serial ports, polled: before anything else, so that even the first panic is seen. */
void serial_early_init(void);

/* Devices of memory, the terminal, disks. After the VFS, the scheduler and interrupts are up. */
void mem_devices_init(void);
void tty_init(void);
void ramdisk_init(void);
void virtio_blk_init(void);
