/*
 * initramfs.h - the initial RAM disk.
 */
#pragma once

#include "core/base/types.h"

/* Unpack the newc archive of @size bytes into the current task's working directory. 0; -EINVAL: it
 * is damaged; or why an object could not be made: -EEXIST, -EMLINK (a file with several names),
 * -ENOSPC, -ENOMEM ... An error is in the log, and what came before it stays. Sleeps. */
int initramfs_unpack(const void *archive, size_t size);
