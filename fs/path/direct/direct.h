/*
 * direct.h - direct lookup: a path that was walked before is found by one look into a hash table of
 * whole paths, whatever the number of its components (Tsai 2015, sections 3 and 4).
 *
 * How. A dentry that a walk without locks has come to gets an entry: the signature of its canonical
 * path (signature.h), the dentry, its mount. The next lookup hashes the path's text, going on from
 * the signature of the directory where it starts, finds the entry, and asks the prefix cache
 * (prefix.h) whether this credential may go there. If the one or the other is not known it walks,
 * and remembers what it found. So a path that is not canonical ("a/../b", "a//b", through a link)
 * is only a path that is not known.
 *
 * When is an entry true? While it has a version, and no mount has changed since it was made
 * (mount_sequence). Entries do not change, but for their versions, and one that is void stays so;
 * another path of the dentry (by another mount) is another entry.
 *
 * One comes into the table unsure (DIRECT_UNSURE): who changes the tree from then on sees it, and
 * makes it void, whatever he changes. Who entered it looks whether anything has changed before, and
 * makes it true by a compare-and-swap, or takes it out. Until then nobody finds anything by it, nor
 * learns its version, nor goes on from it: he might remember, or find, what is not so any more.
 *
 * Who changes the tree. A dentry that leaves the dentry cache, or its name, takes its entry along
 * (direct_forget(), from unhash()). For what is below it, and for who may search it, there are the
 * guards change_place and change_rights, around whatever renames or removes a directory, or changes
 * its mode or owner:
 *
 *	1. it counts, so that no walk that has begun before is remembered afterwards, nor any that
 *	   begins before the change is done;
 *	2. it gives each entry below another version or, if the directory will be elsewhere, none:
 *	   so nobody finds there what was true. A void entry stays in the table until its dentry
 *	   gets another, or goes, or its path leads elsewhere and is remembered;
 *	3. then the tree is changed, under the locks that it needs, and the walk goes by these.
 *
 * A lookup that found an entry before 2 has been before the change. It looks at the end whether its
 * start's entry and the one it found are true, after it has read what it tells.
 *
 * Working directories and open directories keep their rights, as the walk knows them: what was
 * found from a start is remembered only if the start itself may be reached from the root.
 *
 * Of a path there is one entry, at most: another takes the place of the one before. That is void,
 * or about to be, if the tree has changed; or the new one is, by a walk that was overtaken.
 *
 * A dentry has places for DIRECT_PATHS entries, of paths through as many mounts. Another entry goes
 * to an empty place, to that of a void one, or of the oldest. Each place keeps to the rules by
 * itself, and who changes the tree goes through all.
 *
 * Locks: an entry is in the table if and only if a place of its dentry, dentry->direct[], leads to
 * it: both change under the lock of the entry's bucket, which is innermost. So whoever has that
 * lock has the dentries of all entries there. Readers need none; entries are freed after a grace
 * period.
 */
#pragma once

#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/direct/prefix.h"
#include "fs/path/direct/signature.h"
#include "fs/path/lockless/lockless.h"

/* A place's canonical path. Unchanged while it is in the table, but for its version and the hint.
 */
struct direct_entry {
	struct path_table_link hash_link;
	struct signature signature;
	struct path path; /* not referenced: dentry->direct[place] leads back here */
	u64 version;	  /* of prefix.h; 0: it is void; or DIRECT_UNSURE */
	u32 mount_sequence;
	u8 place;
	u8 absent_shift; /* a hint: direct_hint() */
	u64 absent;
#ifdef CONFIG_PREFIX_SIBLINGS
	u64 below; /* of a directory: the version that its names have (siblings/siblings.h), or 0 */
#endif
	struct rcu_head rcu;
};

/* How a direct lookup ends. */
enum direct_result { DIRECT_UNKNOWN, DIRECT_FOUND, DIRECT_ABSENT, DIRECT_BELOW_FILE };

/*
 * A walk from @dfd by @name, of which direct_find() (find.h) knew nothing, has come to @path, which
 * is referenced, and whose dentry's sequence count was @sequence; with @below the text of @name
 * goes on below that, which is absent or no directory. May sleep.
 */
void direct_remember(const struct lockless_walk *walk, int dfd, const char *name,
		     const struct path *path, u32 sequence, bool below);
/* End the reader's section of a walk that leads nowhere, by @error: -ENOENT, there is no such name;
 * or -ENOTDIR, it stands on what is no directory. What the cache has of that is remembered. May
 * sleep. */
void direct_end_nowhere(const struct lockless_walk *walk, int error, int dfd, const char *name);
/* entries.c: @path, which is referenced, gets an entry of a new version, unsure, in place of what
 * its dentry has: that version. 0: there is no memory, or somebody else's was first. May sleep. */
u64 direct_enter(const struct path *path, const struct signature *signature, u32 mount_sequence);
/* @dentry is no more what a path leads to. The caller has begun the change of it (changes_begin()).
 * Takes the lock of a bucket of the table of paths, and nothing else. */
void direct_forget(struct dentry *dentry);

/*
 * Around a change of the directory @dentry, which is referenced (NULL: of none), its place or the
 * right to search it: see above. Takes dentry_tree_lock for as long as it looks at all that is
 * cached below, and each directory's lock while it looks at what is below that (below.h).
 */
enum direct_kind { DIRECT_RIGHTS, DIRECT_PLACE };
void direct_change_begin(struct dentry *dentry, enum direct_kind kind);
void direct_change_end(struct dentry *dentry);
DEFINE_GUARD(change_rights, struct dentry, direct_change_begin(object, DIRECT_RIGHTS),
	     direct_change_end)
DEFINE_GUARD(change_place, struct dentry, direct_change_begin(object, DIRECT_PLACE),
	     direct_change_end)
/* Around a @change of rules by which many directories may be searched (NULL: of none): all entries
 * are void. */
void direct_change_all_begin(const void *change);
DEFINE_GUARD(change_all_rights, void, direct_change_all_begin(object), direct_change_end)
/* Around the renaming of @dentry, which may be a file, so that who mounts something on it meanwhile
 * does not wait for that, nor is it a change that counts: what is mounted is elsewhere now. */
static inline void direct_mounted_meanwhile(const struct dentry *dentry)
{
	if (READ_ONCE(dentry->flags) & D_MOUNTED)
		mounts_have_moved();
}
DEFINE_GUARD(mounted_meanwhile, struct dentry, (void)0, direct_mounted_meanwhile)
/* @dentry, if paths go on behind it: a directory, what something is mounted on or, where links are
 * remembered, a link; else NULL. */
static inline struct dentry *led_through(struct dentry *dentry)
{
	umode_t mode = dentry->inode ? dentry->inode->mode : 0;
#ifdef CONFIG_DCACHE_SYMLINK_ALIAS
	if (S_ISLNK(mode))
		return dentry;
#endif
	return S_ISDIR(mode) || READ_ONCE(dentry->flags) & D_MOUNTED ? dentry : NULL;
}

/* @dentry, if with that mode and owner others may search it than now; else NULL. */
static inline struct dentry *searched_otherwise(struct dentry *dentry, umode_t mode, uid_t uid,
						gid_t gid)
{
	const struct inode *inode = dentry->inode;
	bool same = !((inode->mode ^ mode) & S_IXUGO) && inode->uid == uid && inode->gid == gid;

	return same || !S_ISDIR(inode->mode) ? NULL : dentry;
}

extern struct hash_cache path_cache_hash; /* the table's geometry and counters (hash/cache.h) */
/* Take all entries out of the table: how many there were. Does not sleep. */
u64 direct_forget_entries(void);
/* That, and let go of all aliases and prefix caches: how many there were of all. Does not sleep. */
u64 direct_forget_all(void);
void direct_init(void);
/* In a debug kernel, and hosted: the table has one entry of each dentry that has one, no other, and
 * where one is true as of now it has the signature of its dentry's path; or panic. Nothing else
 * runs. Sleeps. */
#if defined(CONFIG_DEBUG) || defined(HOSTED)
void direct_check(void);
#else
static inline void direct_check(void)
{
}
#endif

#endif
