/*
 * drivers.h - starting the drivers, in the order main.c needs.
 */
#pragma once

/* PCI, disks, terminals, memory devices. After the VFS, the scheduler and interrupts are up. */
void drivers_init(void);

/* The serial ports, polled: right after core_early_init(), so that messages come out by bursts. */
void serial_early_init(void);

/* What drivers_init() calls. */
void serial_init(void);
void tty_init(void);
void mem_devices_init(void);
void ramdisk_init(void);
void virtio_blk_init(void);
