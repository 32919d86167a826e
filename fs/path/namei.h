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
 * FD_PATH: even by O_PATH; EXCLUSIVE: only to make what is not there;
 * LIMITED: asking walk->limit.
 */
enum { LOOKUP_FOLLOW = AT_SYMLINK_FOLLOW, LOOKUP_EMPTY = AT_EMPTY_PATH };
enum { LOOKUP_FD = 1, LOOKUP_FD_PATH = 2, LOOKUP_EXCLUSIVE = 4, LOOKUP_LIMITED = 8 };

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
 * there, or NULL. */
int path_lookup(int dfd, const char *name, unsigned flags, struct new_name *create,
		struct path *path);
/* Only to the directory that holds the last component, which is left in *@last. */
int path_parent(int dfd, const char *name, struct last *last, struct path *path);
/* Both with references all the way: from *@path on, or, if its mount is NULL, from the start. */
int walk_with_references(int dfd, const char *name, unsigned flags, struct new_name *create,
			 struct last *last, struct path *path);
/* On from *@path by the last component, which is not in the cache, nor "." or "..": as
 * path_lookup(). */
int walk_missed(const struct component *name, unsigned flags, struct new_name *create,
		struct path *path);
/* What descriptor @number has open (LOOKUP_FD_PATH: even by O_PATH), referenced: 0, -EBADF. */
int descriptor_path(int number, unsigned flags, struct path *path);

/* ---- a walk itself: for namei.c, and for fs/openat2, which limits where some may go ---------- */

struct held_link {
	struct path path; /* referenced: keeps its mount, and its inode with a fast link's text */
	char *text;	  /* from get_link(), or NULL */
};

#ifdef CONFIG_OPENAT2
/* Before a walk leaves for the root, up from the root, through a link, or to what is not in the
 * dentry cache; and after it came to a mount, up, or to where a link led that is no text. */
enum step {
	STEP_TO_ROOT, STEP_UP_FROM_ROOT, STEP_THROUGH_LINK, STEP_UNCACHED,
	STEPPED_TO_MOUNT, STEPPED_UP, STEPPED_BY_LINK,
};
#endif

struct walk {
	unsigned flags;	  /* LOOKUP_*; a path as the first member would have GCC align the stack */
	bool directory;	  /* the last component was followed by a slash: it must be one */
	struct path path; /* referenced */
	struct path root; /* referenced; mount NULL: not yet needed */
	unsigned depth;	  /* of rest */
	unsigned links;	  /* held; with @jumps also the count for ELOOP */
	unsigned jumps;	  /* through links that are no text */
	struct new_name *create; /* what to make if the last component is not there, or NULL */
	struct last *last;	 /* where to leave it, if only its directory is wanted, or NULL */
#ifdef CONFIG_OPENAT2
	/* With LOOKUP_LIMITED: 0, or -errno, with which the walk ends. No lock is held. */
	int (*limit)(const struct walk *walk, enum step step);
#endif
	const char *rest[MAXSYMLINKS];
	struct held_link held[MAXSYMLINKS];
};

#ifdef CONFIG_OPENAT2
/* path_lookup() in its two parts, for a walk that is else all zero: to @dfd, or the root (-EBADF,
 * and nothing is to be let go); and from there to the end of @name, whatever comes of it. */
int walk_begin(struct walk *walk, int dfd, bool at_root);
int walk_finish(struct walk *walk, const char *name, struct path *path);
#endif
