/*
 * namei.h - the path walk: from a name to a place, a referenced struct path.
 *
 * A call of a program takes the text by path_name_get() and walks by path_lookup(), or both by
 * user_path_at(); the kernel's own walks go by kern_path(). path_put(), or __free(path), lets the
 * place go. A walk takes no lock but for what it does not find in the dentry cache: then the
 * directory's inode->lock.
 */
#pragma once

#include "core/memory/slab.h"
#include "fs/path/names.h"

/*
 * FOLLOW: a symbolic link in the last component; EMPTY: as
 * AT_EMPTY_PATH, "" means the starting place; FD: no name, but what descriptor @dfd has open,
 * FD_PATH: even by O_PATH; EXCLUSIVE: only to make what is not there.
 */
enum { LOOKUP_FOLLOW = AT_SYMLINK_FOLLOW, LOOKUP_EMPTY = AT_EMPTY_PATH };
enum { LOOKUP_FD = 1, LOOKUP_FD_PATH = 2, LOOKUP_EXCLUSIVE = 4 };

/* Walk @name (user address) from directory descriptor @dfd (AT_FDCWD: cwd): 0 and a referenced
 * path, or -ENOENT, -ENOTDIR, -EACCES, -ELOOP, -ENAMETOOLONG, -EFAULT, -EBADF, -ENOMEM, -EIO. May
 * sleep. */
int user_path_at(int dfd, const char __user *name, unsigned flags, struct path *path);
/* the same from cwd of a kernel string, which has eight readable bytes behind its end */
int kern_path(const char *name, unsigned flags, struct path *path);
/*
 * A path's text, copied from the program: short ones (most) into the caller's frame. No larger part
 * of it is cleared. Eight bytes behind the NUL are readable.
 */
#define NAME_SMALL 240
struct path_name {
	const char *text;
	char *allocated; /* NULL: text is in small */
	char small[NAME_SMALL + 16];
};
/* 0, -EFAULT, -ENAMETOOLONG, -ENOMEM. To be freed after a failure as well. */
int path_name_get(struct path_name *name, const char __user *from);
DEFINE_FREE(name, struct path_name,
	    if (unlikely(variable->allocated != NULL)) kfree(variable->allocated))

/* Walk @name from @dfd: 0 and *@path, referenced. @create: what to make if the last name is not
 * there, or NULL. With @last only to the directory that holds the last component. */
int path_lookup(int dfd, const char *name, unsigned flags, struct new_name *create,
		struct last *last, struct path *path);
/*
 * The same of all of @name, and not everywhere, as openat2(2) has it; @resolve: RESOLVE_*. -EXDEV:
 * it would leave its mount (NO_XDEV), or the tree it began in (BENEATH; IN_ROOT: that is its root);
 * -ELOOP: a link is in the way; -EAGAIN: a name is not cached (CACHED), or the place where it was
 * has left that tree meanwhile.
 */
int path_lookup_restricted(int dfd, const char *name, unsigned flags, unsigned resolve,
			   struct new_name *create, struct path *path);
/* What descriptor @number has open (LOOKUP_FD_PATH: even by O_PATH), referenced: 0, -EBADF. */
int descriptor_path(int number, unsigned flags, struct path *path);
