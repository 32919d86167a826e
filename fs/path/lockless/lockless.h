/*
 * lockless.h - the path walk that takes no lock, no reference, and writes nothing that another CPU
 * reads: where DENTRY_LOCK is rcu.
 *
 * It goes as far as everything is simple: in the dentry cache, a directory that may be searched,
 * something mounted there, a symbolic link whose text is in memory. Where it is not - a miss, a
 * change meanwhile, a permission that is refused - it stops, and the walk with references goes on
 * from there (namei.c), or from the start if the place has changed, or a link's text was left
 * unfinished. Only success, that a name is known not to exist and, where direct lookup remembers
 * that, that a text goes on below what is no directory, are told by this one, so that every other
 * error is found in one place.
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
#ifdef CONFIG_DCACHE_FASTPATH
#include "fs/path/direct/attempt.h"
#endif

/* How far such a walk goes. */
enum lockless_result {
	LOCKLESS_NOT,	 /* from its start it is one for the walk with references */
	LOCKLESS_PART,	 /* from its place on */
	LOCKLESS_MISSED, /* the same: the last component is not in the cache, or may be made */
	LOCKLESS_ALL,
	LOCKLESS_NEW, /* the same, by a path that is to be remembered (direct/direct.h) */
};

#ifdef LOCKLESS_WALK

/* A walk, and where it has come to. */
struct lockless_walk {
	struct inode *inode; /* path.dentry's; not NULL */
	struct path path;    /* not referenced */
	u32 sequence;	     /* path.dentry's, as long as all this is true */
	u32 mount_sequence;
	const char *left;	    /* of the path's text, to be walked from here on; "" at its end */
	struct component *component; /* of the walk's caller: the one at which it stopped */
	/* The walk's own. */
	unsigned flags;		       /* LOOKUP_* */
	struct dentry *special;	       /* what the cache has of it, if it was looked for */
	u32 special_sequence;	       /* of that */
	unsigned links;		       /* followed */
	unsigned depth;		       /* of rest */
	const char *rest[MAXSYMLINKS]; /* what waits for a link's text to end */
#ifdef CONFIG_DCACHE_FASTPATH
	struct direct_attempt direct;
#endif
};

/*
 * Find @name from @dfd, or the root, as far as it is simple; flags as path_lookup()'s.
 * lockless_result, or -ENOENT or -ENOTDIR if that is known. Between rcu_read_lock() and
 * rcu_read_unlock().
 */
int lockless_find(int dfd, const char *name, unsigned flags, struct lockless_walk *walk);
/*
 * End the reader's section of lockless_find(), which told @walked, with a reference: go on from
 * where @walk has come to, or, if that has changed, from the start. As path_lookup(). May sleep.
 */
int lockless_end(int walked, const struct lockless_walk *walk, int dfd, const char *name,
		 struct path *path);

/* Has what was read of the place where @walk is stayed true until now? */
static __always_inline bool lockless_still_there(const struct lockless_walk *walk)
{
	return !read_seqcount_retry(&walk->path.dentry->sequence, walk->sequence);
}

/* Used now, which is written down only where it does not stand yet. D_MOUNTED: something may be
 * mounted on @dentry; D_UNHASHED: it has left the table. Who stood on it in its chain finds it even
 * then, with a sequence that does not change any more, and an inode that is on its way out. */
static __always_inline unsigned use_not_plain(struct dentry *dentry)
{
	if (likely(data_race(dentry->flags_and_referenced) == D_PLAIN))
		return 0;
	if (!READ_ONCE(dentry->referenced))
		WRITE_ONCE(dentry->referenced, 1);
	return READ_ONCE(dentry->flags) & (D_MOUNTED | D_UNHASHED);
}

#endif
