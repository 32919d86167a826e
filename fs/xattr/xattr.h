/*
 * xattr.h - extended attributes: lists of them in memory, and reading and changing a file's.
 *
 * A list belongs to who asked for it (xattr_free(), __free(xattrs)); a file system that keeps
 * attributes in memory has one for each inode, under inode->lock. The calls on files take that lock
 * and ask whether current may.
 */
#pragma once

#include "fs/path/mount.h"

enum { XATTR_CREATE = 1, XATTR_REPLACE = 2, XATTR_NAME_MAX = 255 };
#define XATTR_SIZE_MAX 65536 /* of a value, and of a list */

/* One of a list. */
struct xattr {
	struct xattr *next;
	const char *name; /* whole; behind the value */
	size_t size;
	u8 value[];
};

/* As setxattr(2): a new one becomes the first, as in Linux's tmpfs; @value NULL: removed. */
int xattr_set(struct xattr **list, const char *name, const void *value, size_t size, int flags);
void xattr_free(struct xattr **list);
/* Set @name, or remove it (@value NULL), as setxattr(2), if current may: 0 or -errno. */
int xattr_change(const struct path *path, const char *name, const void *value, size_t size,
		 int flags);
/* @name, or all there are, into *@list, which is NULL; it is the caller's to free, whatever the
 * result. 0, -ENODATA, -EACCES, -EOPNOTSUPP ... Take inode->lock. */
int xattr_read(struct inode *inode, const char *name, struct xattr **list);
int xattr_read_all(struct inode *inode, struct xattr **list);
/* May current see that it is there? */
bool xattr_is_shown(const struct xattr *xattr);
DEFINE_FREE(xattrs, struct xattr *, xattr_free(variable))

/* What the file systems keep: ext2.c, tmpfs.c. */
extern const struct xattr_operations ext2_xattrs, tmpfs_xattrs;
/* At start-up (ROOM_START(); the hosted build calls it): from now on they have attributes. */
void xattr_init(void);
