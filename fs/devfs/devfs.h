/*
 * devfs.h - /dev: a tmpfs in which each registered device has its node.
 */
#ifndef FS_DEVFS_H
#define FS_DEVFS_H

#include "fs/vfs.h"

/* A node @name for device @dev (mode with S_IFCHR or S_IFBLK), now and in a devfs mounted later. 0
 * or -ENOMEM. */
int devfs_add(const char *name, umode_t mode, dev_t dev);

#endif /* FS_DEVFS_H */
