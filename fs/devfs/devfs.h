/*
 * devfs.h - /dev: the character devices, and a tmpfs in which each device has its node. Devices
 * make themselves known by register_chrdev() (fs/vfs.h).
 */
#pragma once

#include "fs/vfs.h"

const struct file_operations *find_chrdev(dev_t dev); /* or NULL */
