/*
 * initramfs.h - the initial RAM disk.
 */
#pragma once

#include "core/base/types.h"

/* Unpack the newc archive of @size bytes into the current task's root directory. 0, -EINVAL
 * (damaged; says so in the log), -ENOSPC, -ENOMEM. Sleeps. */
int initramfs_unpack(const void *archive, size_t size);
