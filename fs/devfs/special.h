/*
 * special.h - character devices, and the inodes of device nodes and FIFOs.
 *
 * A driver calls register_chrdev() at start-up, before /dev is first mounted; the table is never
 * changed afterwards, so it has no lock. A file system gives a node its operations by
 * init_special_inode(); the open of a node finds the device by its number and puts the device's own
 * operations into the open file. Block devices share block_device_file_operations.
 */
#pragma once

#include "fs/file/file.h"

struct chrdev {
	dev_t dev;
	const char *name; /* in /dev */
	umode_t mode;
	const struct file_operations *fop;
};

/* At start-up, permanent; panics if there are more than 16. */
void register_chrdev(dev_t dev, const char *name, umode_t mode, const struct file_operations *fop);
/* The one registered after @previous (NULL: the first), or NULL. */
const struct chrdev *next_chrdev(const struct chrdev *previous);

extern struct filesystem devtmpfs_filesystem; /* devfs.c */

/* For device nodes, FIFOs: set @inode's type, device number and file operations. */
void init_special_inode(struct inode *inode, umode_t mode, dev_t rdev);
