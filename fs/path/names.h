/*
 * names.h - what is done to names in locked directories.
 *
 * The caller walks to the directory (namei.h), locks it (guard(parent, dir)), looks the name up,
 * and has it made or removed; a rename locks its directories itself. What a removed name stood for
 * is let go when the directory is unlocked, since freeing its blocks may take long.
 */
#pragma once

#include "fs/path/mount.h"

enum last_type { LAST_NORM, LAST_ROOT, LAST_DOT, LAST_DOTDOT };

/* The last component of a path, in the path's own text. */
struct last {
	struct component name;
	enum last_type type;
	bool trailing_slash;
};

/* What is to get a name. */
struct new_name {
	umode_t mode; /* with the type, umask not applied; 0: a link to @old */
	bool made;    /* by path_lookup() */
	dev_t rdev;
	const char *target; /* of a symbolic link; slack behind it, as everywhere (dentry.h) */
	const struct path *old;
};

/* Make @new's object, of the negative @dentry in a locked directory. */
int make_locked(const struct path *parent, struct dentry *dentry, const struct new_name *new);
/* As open(2) with O_TMPFILE: a regular file without a name in the directory @parent, of which
 * *@path, referenced, tells. -EROFS, -EACCES, -EOPNOTSUPP ... No lock is held. */
int make_nameless(const struct path *parent, umode_t mode, struct path *path);
/* The dentry of @name, which was taken for @dir, positive or negative: from the cache or asked of
 * the file system. @dir's inode->lock is held for writing. LOOK_AGAIN is not counted, since a
 * walk's look was. Referenced, or ERR_PTR. */
enum look { LOOK_AGAIN, FIRST_LOOK };
struct dentry *lookup_locked(struct dentry *dir, const struct component *name, enum look look);
/* An inode whose name may be removed in a scope is let go behind it, without the locks: freeing its
 * blocks may take long, and so may what other namespaces have mounted on the name. */
DEFINE_FREE(removed, struct inode *, if (*variable) removed_put(*variable))
enum removed_kind { REMOVE_FILE, REMOVE_DIRECTORY };
/* Remove the name @dentry, positive, which is in @dir, whose lock is held: 0, -EPERM, -EACCES,
 * -EISDIR, -ENOTDIR, -ENOTEMPTY, -EBUSY ... */
int remove_locked(struct inode *dir, struct dentry *dentry, enum removed_kind kind);
/* As renameat2(2): @old of @old_dir becomes @new of @new_dir, directories that the caller has
 * referenced, on one file system that can be written to. Takes all locks. */
int rename_names(struct dentry *old_dir, const struct last *old, struct dentry *new_dir,
		 const struct last *new, unsigned flags);
