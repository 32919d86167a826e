/*
 * open.h - opening a file by its name, with the checks that open(2) makes.
 */
#pragma once

#include "fs/file/file.h"

/* Open by kernel path, as kern_path(), for the kernel's own use: referenced file or ERR_PTR. */
struct file *filp_open(const char *name, int flags, umode_t mode);
/* The same from @dfd on, as openat(2): 0 and an open file in *@opened, or -errno. Sleeps. */
int open_at(int dfd, const char *name, int flags, umode_t mode, struct file **opened);
/* As openat2(2), with RESOLVE_* in @resolve. */
int open_at_restricted(int dfd, const char *name, int flags, umode_t mode, unsigned resolve,
		       struct file **opened);
