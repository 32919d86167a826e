/*
 * xattr_list.h - extended attributes in a list in memory: what tmpfs has, and what ext2 makes of a
 * block and back. The functions answer as inode_operations.getxattr and its neighbours do (vfs.h).
 * The caller has locked the list.
 */
#pragma once

#include "fs/vfs.h"

struct xattr {
	struct xattr *next;
	const char *name; /* whole; behind the value */
	size_t size;
	u8 value[];
};

s64 xattr_list_get(const struct xattr *list, const char *name, void *value, size_t size);
/* A new one becomes the first, as in Linux's tmpfs; @value NULL: removed. */
int xattr_list_set(struct xattr **list, const char *name, const void *value, size_t size,
		   int flags);
s64 xattr_list_names(const struct xattr *list, char *names, size_t size);
void xattr_list_free(struct xattr **list);
