/*
 * pathcache.h - what the kernel asks of a path cache, and tells it. You write pathcache.c; this
 * file stays as it is.
 *
 * A lookup goes so: pathcache_find() is asked. If it knows nothing, the kernel walks, component by
 * component, as without a cache; and if the walk went through plain names alone, to something that
 * is there, pathcache_fill() is told where it came to.
 *
 * What was told stays true until something changes, and the kernel says so before it does:
 *
 *	pathcache_forget(dentry)	no path leads to @dentry as before: its name is removed or
 *					becomes another, or it leaves the dentry cache, and is freed
 *	pathcache_change_begin(),	around a change of a directory: it is moved or removed, or
 *	pathcache_change_end()		others may search it than before. In between
 *					pathcache_forget() is called for each dentry below it
 *	question->mounts		is another number after each mount and umount
 *
 * Other CPUs look up, and fill, while that goes on. A walk that began before a change, or while it
 * was going on, may have seen the tree as it was, and ends when the change is done: what it found
 * must not be kept. What pathcache_find() tells may be just about to change: it was so when it
 * looked.
 *
 * Locks: pathcache_find() and pathcache_forget() are called with spin locks held, or in a reader's
 * section (core/lock/rcu.h): they must not sleep, nor call anything that takes locks of the dentry
 * cache. Nothing is called in an interrupt. A spin lock of your own is fine.
 */
#pragma once

#include "core/kernel.h"
#include "fs/path/mount.h" /* struct path: a mount, and a dentry in it */

/* "Where does @text lead from @start, if @credential asks?" */
struct path_question {
	struct path start; /* the root, the working directory, an open directory. No reference is
			    * held: compare it, and do not look into it */
	const char *text;  /* what of the path comes behind that: it begins with no slash. To be
			    * copied: it does not last. Eight bytes behind its NUL are readable */
	u64 credential;	   /* who asks. Who has another user or other groups has another number; a
			    * number is never given twice. What one may search another may not */
	u32 mounts;	   /* what was filled at another number says nothing any more */
	u64 stamp; /* yours: what pathcache_find() leaves here pathcache_fill() finds again */
	bool keep; /* true; make it false, and pathcache_fill() is not called after this walk */
};

/* true: @question leads to *@place, which was filled, and nothing has changed since. false: walk.
 * Not asked for the root and the like, whose text is empty. Must not sleep. */
bool pathcache_find(struct path_question *question, struct path *place);

/* The walk that began after pathcache_find() was asked @question has come to @place: through
 * directories that question->credential may search, by no ".", "..", link or slash too many. @place
 * is referenced until this returns, and there; it may be a directory. May sleep; may be told what
 * it knows already. */
void pathcache_fill(const struct path_question *question, const struct path *place);

void pathcache_forget(struct dentry *dentry);
void pathcache_change_begin(void);
void pathcache_change_end(void);

/* At boot, before all else. There is memory. */
void pathcache_init(void);

/* A word of each dentry for whatever you like: NULL in a new one. Nobody else looks at it. */
struct path_entry;
static inline struct path_entry **pathcache_word(struct dentry *dentry)
{
	return (struct path_entry **)&dentry->direct[0];
}
