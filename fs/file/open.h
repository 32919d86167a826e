/*
 * open.h - opening a file by its name, with the checks that open(2) makes.
 */
#pragma once

#include "fs/file/file.h"

/* Open by kernel path, as kern_path(), for the kernel's own use: referenced file or ERR_PTR. */
struct file *filp_open(const char *name, int flags, umode_t mode);
/* The same from @dfd on, as openat(2): 0 and an open file in *@opened, or -errno. Sleeps. */
int open_at(int dfd, const char *name, int flags, umode_t mode, struct file **opened);
#ifdef CONFIG_OPENAT2
/* The same of what a walk with open_lookup(@flags) has found, or made, which @new says; *@path is
 * taken over as by file_open_path(). */
struct new_name;
int open_place(struct path *path, const struct new_name *new, int flags, struct file **opened);
#endif

/* LOOKUP_* of a name that is opened with @flags. */
static inline unsigned open_lookup(int flags)
{
	bool exclusive = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);

	return exclusive || (flags & O_NOFOLLOW) ? 0 : AT_SYMLINK_FOLLOW;
}
