/*
 * openat2.h - walks that may not go everywhere, as openat2(2) has them.
 */
#pragma once

#include "fs/path/namei.h"

enum { RESOLVE_NO_XDEV = 1, RESOLVE_NO_MAGICLINKS = 2, RESOLVE_NO_SYMLINKS = 4 };
enum { RESOLVE_BENEATH = 8, RESOLVE_IN_ROOT = 16, RESOLVE_CACHED = 32, RESOLVE_ALL = 63 };
#define RESOLVE_SCOPED (RESOLVE_BENEATH | RESOLVE_IN_ROOT)

/*
 * As path_lookup() of all of @name, and not everywhere; @resolve: RESOLVE_*. -EXDEV: it would leave
 * its mount (NO_XDEV), or the tree it began in (BENEATH; IN_ROOT: that is its root); -ELOOP: a link
 * is in the way; -EAGAIN: a name is not cached (CACHED), or the place where it was has left that
 * tree meanwhile.
 */
int path_lookup_restricted(int dfd, const char *name, unsigned flags, unsigned resolve,
			   struct new_name *create, struct path *path);
