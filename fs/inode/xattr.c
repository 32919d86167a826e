/*
 * xattr.c - extended attributes: lists of them in memory, the calls, and who may do what in which
 * namespace. What is kept, and where, is the file system's (inode_operations.load_xattrs).
 *
 * user.*      as the file's contents; only regular files and directories have them
 * trusted.*   root's alone: others neither see nor change them
 * security.*  read by all, changed by root
 * system.*    access lists, which no file system here knows: EOPNOTSUPP, as every other prefix
 *
 * The order of the checks is Linux's, since it decides which errno a program sees.
 */
#include "fs/internal.h"

/* ---- lists ----------------------------------------------------------------------------------- */

/* Where @name stands in the list, or its end. */
static struct xattr **find(struct xattr **at, const char *name)
{
	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	return at;
}

int xattr_set(struct xattr **list, const char *name, const void *value, size_t size, int flags)
{
	size_t length = strlen(name) + 1;
	struct xattr **at = find(list, name), *old = *at;

	if (old && (flags & XATTR_CREATE))
		return -EEXIST;
	if (!old && (!value || (flags & XATTR_REPLACE)))
		return -ENODATA;
	if (value) {
		struct xattr *new = TRY_PTR(kmalloc(sizeof(*new) + size + length, GFP_KERNEL));

		new->size = size;
		new->name = memcpy(new->value + size, name, length);
		memcpy(new->value, value, size);
		at = old ? at : list;
		new->next = old ? old->next : *at;
		*at = new;
	} else {
		*at = old->next;
	}
	kfree(old);
	return 0;
}

void xattr_free(struct xattr **list)
{
	struct xattr *xattr;

	while ((xattr = *list) != NULL) {
		*list = xattr->next;
		kfree(xattr);
	}
}

static bool has_prefix(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* ---- who may --------------------------------------------------------------------------------- */

/* May @name be read or changed, as @mask says, and can it be here at all? What may not be read is
 * said not to be there. */
static int xattr_permission(struct inode *inode, const char *name, int mask)
{
	bool change = mask & MAY_WRITE, directory = S_ISDIR(inode->mode);
	int refused = change ? -EPERM : -ENODATA;

	if (has_prefix(name, "user.")) {
		if (!directory && !S_ISREG(inode->mode))
			return refused;
		if (change && directory && (inode->mode & S_ISVTX) && !owner_or_root(inode))
			return -EPERM;
		TRY(inode_permission(inode, mask));
		if (inode->sb->flags & SB_NO_USER_XATTRS)
			return -EOPNOTSUPP;
	} else if (has_prefix(name, "trusted.")) {
		if (!capable(current->cred))
			return refused;
	} else if (has_prefix(name, "security.")) {
		if (change && !capable(current->cred))
			return -EPERM;
	} else {
		TRY(has_prefix(name, "system.") ? 0 : inode_permission(inode, mask));
		return -EOPNOTSUPP;
	}
	if (!inode->op->load_xattrs)
		return -EOPNOTSUPP;
	return strchr(name, '.')[1] ? 0 : -EINVAL;
}

/* @key: XATTR_NAME_MAX + 1 bytes. */
static int get_key(char *key, const char __user *from)
{
	s64 length = TRY(strncpy_from_user(key, from, XATTR_NAME_MAX + 1));

	return length == 0 || length > XATTR_NAME_MAX ? -ERANGE : 0;
}

/* ---- changing -------------------------------------------------------------------------------- */

static s64 change_on(const struct path *path, const char __user *user_key, const void *value,
		     size_t size, int flags)
{
	struct inode *inode = path->dentry->inode;
	char key[XATTR_NAME_MAX + 1];

	TRY(mount_writable(path->mount));
	TRY(get_key(key, user_key));
	guard(write, &inode->lock);
	TRY(xattr_permission(inode, key, MAY_WRITE));
	TRY(inode->op->set_xattr(inode, key, value, size, flags));
	return inode_changed(inode);
}

static s64 set_on(const struct path *path, const char __user *user_key, const void __user *from,
		  size_t size, int flags)
{
	if (flags & ~(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	void *value __free(kfree) = TRY_PTR(kmalloc(size, GFP_KERNEL));
	TRY(read_user(value, from, size));
	return change_on(path, user_key, value, size, flags);
}

/* ---- reading --------------------------------------------------------------------------------- */

static s64 get_on(const struct path *path, const char __user *user_key, void __user *to,
		  size_t size)
{
	struct inode *inode = path->dentry->inode;
	struct xattr *list __free(xattrs) = NULL;
	char key[XATTR_NAME_MAX + 1];

	TRY(get_key(key, user_key));
	guard(read, &inode->lock);
	TRY(xattr_permission(inode, key, MAY_READ));
	TRY(inode->op->load_xattrs(inode, key, &list));
	if (!list)
		return -ENODATA;
	if (size && list->size > size)
		return -ERANGE;
	return size && copy_to_user(to, list->value, list->size) ? -EFAULT : (s64)list->size;
}

/* The names of those that current may see. */
static s64 list_on(const struct path *path, char __user *names, size_t size)
{
	struct inode *inode = path->dentry->inode;
	struct xattr *list __free(xattrs) = NULL;
	size_t total = 0;

	guard(read, &inode->lock);
	if (inode->op->load_xattrs)
		TRY(inode->op->load_xattrs(inode, NULL, &list));
	size = min(size, (size_t)XATTR_SIZE_MAX);
	for (const struct xattr *each = list; each; each = each->next) {
		size_t length = strlen(each->name) + 1;

		if ((has_prefix(each->name, "trusted.") && !capable(current->cred)) ||
		    has_prefix(each->name, "system."))
			continue; /* access lists of other systems: kept, not known */
		if (total + length <= size && copy_to_user(names + total, each->name, length))
			return -EFAULT;
		total += length;
	}
	if (size && total > size)
		return size == XATTR_SIZE_MAX ? -E2BIG : -ERANGE;
	return (s64)total;
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Each comes in three: by name, by name but not through a last link, and by descriptor. */
#define THREE_WAYS(call, work, parameters, ...)                                                    \
	PATH_CALL(call, (const char *name, PARAMETERS parameters), AT_FDCWD, name, LOOKUP_FOLLOW,  \
		  work, __VA_ARGS__)                                                               \
	PATH_CALL(l##call, (const char *name, PARAMETERS parameters), AT_FDCWD, name, 0, work,     \
		  __VA_ARGS__)                                                                     \
	PATH_CALL(f##call, (int fd, PARAMETERS parameters), fd, NULL, LOOKUP_FD, work, __VA_ARGS__)
#define PARAMETERS(...) __VA_ARGS__

THREE_WAYS(setxattr, set_on, (const char *key, const void *value, size_t size, int flags), key,
	   value, size, flags)
THREE_WAYS(getxattr, get_on, (const char *key, void *value, size_t size), key, value, size)
THREE_WAYS(listxattr, list_on, (char *list, size_t size), list, size)
THREE_WAYS(removexattr, change_on, (const char *key), key, NULL, 0, XATTR_REPLACE)
