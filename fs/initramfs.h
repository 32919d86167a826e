/* initramfs.h - unpacking a cpio archive into the root file system. */
#pragma once

#include "kernel/core/types.h"

/*
 * Unpack the newc archive of @size bytes into the current root directory (the current task's, which
 * must have one). 0, -EINVAL (damaged; says so in the log), -ENOSPC, -ENOMEM. Sleeps.
 */
int initramfs_unpack(const void *archive, size_t size);

/* By kernel path from the current directory; what the calls of the same names do. namei_ops.c */
int kern_mkdir(const char *name, umode_t mode);
int kern_mknod(const char *name, umode_t mode, dev_t rdev);
int kern_symlink(const char *target, const char *name);
int kern_link(const char *old, const char *new);
