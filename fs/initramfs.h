/* initramfs.h - unpacking a cpio archive into the root file system. */
#pragma once

#include "kernel/core/kernel.h"

/*
 * Unpack the newc archive of @size bytes into the current root directory (the current task's, which
 * must have one). 0, -EINVAL (damaged; says so in the log), -ENOSPC, -ENOMEM. Sleeps.
 */
int initramfs_unpack(const void *archive, size_t size);

/* By kernel path from the current directory: the file, directory, node or link to @target that the
 * type in @mode says; another name of a file. As mknod(2), mkdir(2), symlink(2), link(2).
 * namei_ops.c */
int kern_make(const char *name, umode_t mode, dev_t rdev, const char *target);
int kern_link(const char *old, const char *new);
