/*
 * devfs.h - /dev: a tmpfs in which each registered device has its node.
 */
#pragma once

#include "fs/vfs.h"

/* A node @name for device @dev (mode with S_IFCHR or S_IFBLK), now and in a devfs mounted later. 0
 * or -ENOMEM. */
int devfs_add(const char *name, umode_t mode, dev_t dev);
