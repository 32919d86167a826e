/* pipe.h - see pipe.c; pipe(2) and the files are declared in fs/vfs.h (pipe_create,
 * pipe_file_operations). */
#pragma once

#include "kernel/core/kernel.h"

struct file;

/* fcntl(2) F_GETPIPE_SZ and F_SETPIPE_SZ: the size in bytes; -EBADF: no pipe, -EBUSY: it holds more
 * than @argument, -EPERM, -EINVAL, -ENOMEM. Sleeps. */
s64 pipe_fcntl(struct file *file, unsigned command, u64 argument);
