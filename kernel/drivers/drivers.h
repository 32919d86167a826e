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

/*
 * Completes the RAM disk's request, whose bytes were copied, when a disk would have served it; any
 * context. NULL: each is completed at once. kernel/drivers/model sets it at its start if
 * ramdisk_model= describes a disk; ramdisk_init() else says that it does not.
 */
struct block_request;
extern void (*ramdisk_model)(struct block_request *request);
