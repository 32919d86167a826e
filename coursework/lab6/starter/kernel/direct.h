/*
 * direct.h - lab 6: the places where the kernel looks a path up, and changes the tree, as
 * fs/path/direct has them, lead to a path cache (pathcache.h) instead.
 */
#pragma once

#ifdef CONFIG_DCACHE_FASTPATH

#include "core/memory/slab.h"
#include "fs/path/direct/prefix.h"
#include "fs/path/lockless/lockless.h"

enum direct_result { DIRECT_UNKNOWN, DIRECT_FOUND, DIRECT_ABSENT, DIRECT_BELOW_FILE };

/* A walk from @dfd by @name, of which nothing was known, has come to @path, which is referenced,
 * and whose dentry's sequence count was @sequence; with @below, which has no part in lab 6, its
 * text goes on below that. May sleep. */
void direct_remember(const struct lockless_walk *walk, int dfd, const char *name,
		     const struct path *path, u32 sequence, bool below);
#define direct_forget(dentry) pathcache_forget(dentry)

/* Around a change of the directory @dentry (NULL: of none), its place or the right to search it.
 * Takes dentry_tree_lock for as long as it goes through all that is cached below. */
void direct_change_begin(struct dentry *dentry);
void direct_change_end(struct dentry *dentry);
DEFINE_GUARD(change_rights, struct dentry, direct_change_begin(object), direct_change_end)
DEFINE_GUARD(change_place, struct dentry, direct_change_begin(object), direct_change_end)
/* Around the renaming of @dentry: what another namespace has mounted on it is elsewhere then. */
static inline void direct_mounted_meanwhile(const struct dentry *dentry)
{
	if (READ_ONCE(dentry->flags) & D_MOUNTED)
		mounts_have_moved();
}
DEFINE_GUARD(mounted_meanwhile, struct dentry, (void)0, direct_mounted_meanwhile)

/* @dentry, if paths go on behind it; else NULL. */
static inline struct dentry *led_through(struct dentry *dentry)
{
	return dentry->inode && S_ISDIR(dentry->inode->mode) ? dentry : NULL;
}

/* @dentry, if with that mode and owner others may search it than now; else NULL. */
static inline struct dentry *searched_otherwise(struct dentry *dentry, umode_t mode, uid_t uid,
						gid_t gid)
{
	const struct inode *inode = dentry->inode;
	bool same = !((inode->mode ^ mode) & S_IXUGO) && inode->uid == uid && inode->gid == gid;

	return same || !S_ISDIR(inode->mode) ? NULL : dentry;
}

extern struct hash_cache path_cache_hash; /* no table: how often the cache was asked, and knew */
/* Nothing to do: who drops dentries says so of each. */
static inline void direct_forget_all(void)
{
}
void direct_init(void);
#define direct_check() ((void)0)

#endif
