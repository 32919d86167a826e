/*
 * chardev.h - character devices: the number in a device node leads to a driver's file operations.
 *
 * Drivers register each device, by number, with the name and mode that it is to have in /dev; dev's file
 * system lists them. Registration is for ever and happens at boot, on one CPU; so there is no lock.
 */
#ifndef FS_CHARDEV_H
#define FS_CHARDEV_H

#include "kernel/core/list.h"
#include "kernel/core/types.h"

struct file_operations;

struct char_device {
	dev_t dev;
	const char *name; /* "null": /dev/null */
	umode_t mode;	  /* permission bits of the node in /dev */
	const struct file_operations *fop;
	struct list_head link; /* in char_devices, as registered */
};

extern struct list_head char_devices;

/* @device lives for ever. */
void register_chrdev(struct char_device *device);

/* The device with this number, or NULL (opening its node is then -ENXIO). */
struct char_device *find_chrdev(dev_t dev);

#endif /* FS_CHARDEV_H */
