/* initramfs.h - unpacking a cpio archive into the root file system. */
#pragma once

#include "kernel/core/kernel.h"

/*
 * Unpack the newc archive of @size bytes into the current root directory (the current task's, which
 * must have one). 0, -EINVAL (damaged; says so in the log), -ENOSPC, -ENOMEM. Sleeps.
 */
int initramfs_unpack(const void *archive, size_t size);
