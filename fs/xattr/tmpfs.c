/*
 * tmpfs.c - extended attributes in memory: a list for each inode, under inode->lock. Those of
 * user.* are none of it, as in Linux before 6.6.
 */
#include "fs/tmpfs/pages.h"
#include "fs/xattr/xattr.h"

static int tmpfs_load_xattrs(struct inode *inode, const char *name, struct xattr **list)
{
	lockdep_assert_held(&inode->lock);
	for (const struct xattr *each = TMPFS_I(inode)->xattrs; each; each = each->next) {
		if (name && strcmp(name, each->name))
			continue;
		TRY(xattr_set(list, each->name, each->value, each->size, 0));
		list = &(*list)->next;
	}
	return 0;
}

static int tmpfs_set_xattr(struct inode *inode, const char *name, const void *value, size_t size,
			   int flags)
{
	lockdep_assert_held(&inode->lock);
	return xattr_set(&TMPFS_I(inode)->xattrs, name, value, size, flags);
}

static void tmpfs_forget_xattrs(struct inode *inode)
{
	xattr_free(&TMPFS_I(inode)->xattrs);
}

const struct xattr_operations tmpfs_xattrs = {
	.load = tmpfs_load_xattrs,
	.set = tmpfs_set_xattr,
	.forget = tmpfs_forget_xattrs,
};
