/* pipe.h - see pipe.c; the calls are declared in fs/vfs.h (pipe_create, pipe_file_operations). */
#pragma once

#include "kernel/core/types.h"

struct dentry;

/* Boot: before the first pipe_create(). */
void pipe_init(void);

/* Is this the dentry of a pipe(2), shown as "pipe:[NUMBER]" in /proc/PID/fd? */
bool is_anonymous_pipe(const struct dentry *dentry);
