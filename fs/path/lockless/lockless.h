/*
 * lockless.h - the path walk that takes no lock, no reference, and writes nothing that another CPU
 * reads: where DENTRY_LOCK is rcu.
 *
 * It goes as far as everything is simple: in the dentry cache, a directory that may be searched, at
 * most something mounted there. Where it is not - a miss, a symbolic link, a change meanwhile, a
 * permission that is refused - it stops, and the walk with references goes on from there (namei.c),
 * or from the start if the place has changed. Only success, and that a name is known not to exist,
 * are told by this one, so that every error is found in one place.
 *
 * How it knows that what it read is true. What it stands on, and looks at, stays in memory, since
 * it is a reader (core/lock/rcu.h). Each dentry has a sequence count. The walk takes that of a
 * child before it compares the child's name and parent and reads its inode; and it looks at it
 * again when it has found the child's own child, or at the end. If it is the same, name, parent and
 * inode belonged together, and the directory whose permission was checked was still that one when
 * the name was found in it. After Linux's walk of 2.6.38 (Nick Piggin), the baseline of Tsai 2015.
 */
#pragma once

#include "fs/path/namei.h"

#ifdef LOCKLESS_WALK

/* Where a walk has come to. None is referenced. */
struct lockless_place {
	struct path path;
	struct inode *inode; /* path.dentry's; not NULL */
	u32 sequence;	     /* path.dentry's, as long as all this is true */
	u32 mount_sequence;
};

/* What the last component is: to be found; to be found, or made; not looked for. */
enum lockless_end { LOCKLESS_FIND, LOCKLESS_CREATE, LOCKLESS_PARENT };

/*
 * Walk @name from @dfd, or the root, as far as it is simple; flags as path_lookup()'s. What is left
 * of @name, to be walked from *@place on: "" at the end; NULL: nothing could be walked, start
 * otherwise; ERR_PTR(-ENOENT). Between rcu_read_lock() and rcu_read_unlock().
 */
const char *lockless_walk(int dfd, const char *name, unsigned flags, enum lockless_end end,
			  struct lockless_place *place);

/* Has what was read of @place stayed true until now? */
static __always_inline bool lockless_still_there(const struct lockless_place *place)
{
	return !read_seqcount_retry(&place->path.dentry->sequence, place->sequence);
}

/*
 * End the reader's section with a reference to @place: true; or without, since it is no more what
 * it was: begin anew, with references. May sleep when that happens.
 */
bool lockless_hold(const struct lockless_place *place, struct path *path);

#endif
