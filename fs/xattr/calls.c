/*
 * calls.c - the calls on extended attributes. Each comes in three: by name, by name but not through
 * a last link, and by descriptor.
 */
#include "fs/calls/calls.h"
#include "fs/xattr/xattr.h"
#include "core/memory/slab.h"

/* @key: XATTR_NAME_MAX + 1 bytes. */
static int get_key(char *key, const char __user *from)
{
	s64 length = TRY(strncpy_from_user(key, from, XATTR_NAME_MAX + 1));

	if (length == 0 || length > XATTR_NAME_MAX)
		return -ERANGE;
	return 0;
}

/* ---- setting --------------------------------------------------------------------------------- */

static s64 set_on(int dfd, const char __user *name, unsigned lookup, const char __user *user_key,
		  const void __user *from, size_t size, int flags)
{
	struct path path __free(path) = {0};
	char key[XATTR_NAME_MAX + 1];

	TRY(user_path_at(dfd, name, lookup, &path));
	if (flags & ~(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	void *value __free(kfree) = TRY_PTR(kmalloc(size, GFP_KERNEL));
	TRY(read_user(value, from, size));
	struct mount *written __free(mount_drop_write) = TRY_PTR(mount_want_write(path.mount));
	TRY(get_key(key, user_key));
	return xattr_change(&path, key, value, size, flags);
}

s64 sys_setxattr(const char *name, const char *key, const void *value, size_t size, int flags)
{
	return set_on(AT_FDCWD, name, LOOKUP_FOLLOW, key, value, size, flags);
}

s64 sys_lsetxattr(const char *name, const char *key, const void *value, size_t size, int flags)
{
	return set_on(AT_FDCWD, name, 0, key, value, size, flags);
}

s64 sys_fsetxattr(int fd, const char *key, const void *value, size_t size, int flags)
{
	return set_on(fd, NULL, LOOKUP_FD, key, value, size, flags);
}

/* ---- getting --------------------------------------------------------------------------------- */

static s64 get_on(int dfd, const char __user *name, unsigned lookup, const char __user *user_key,
		  void __user *to, size_t size)
{
	struct path path __free(path) = {0};
	struct xattr *list __free(xattrs) = NULL;
	char key[XATTR_NAME_MAX + 1];

	TRY(user_path_at(dfd, name, lookup, &path));
	TRY(get_key(key, user_key));
	TRY(xattr_read(path.dentry->inode, key, &list));
	if (!size)
		return (s64)list->size; /* how much room it takes */
	if (list->size > size)
		return -ERANGE;
	if (copy_to_user(to, list->value, list->size))
		return -EFAULT;
	return (s64)list->size;
}

s64 sys_getxattr(const char *name, const char *key, void *value, size_t size)
{
	return get_on(AT_FDCWD, name, LOOKUP_FOLLOW, key, value, size);
}

s64 sys_lgetxattr(const char *name, const char *key, void *value, size_t size)
{
	return get_on(AT_FDCWD, name, 0, key, value, size);
}

s64 sys_fgetxattr(int fd, const char *key, void *value, size_t size)
{
	return get_on(fd, NULL, LOOKUP_FD, key, value, size);
}

/* ---- listing --------------------------------------------------------------------------------- */

/* The names of those that current may see. */
static s64 list_on(int dfd, const char __user *name, unsigned lookup, char __user *names,
		   size_t size)
{
	struct path path __free(path) = {0};
	struct xattr *list __free(xattrs) = NULL;
	size_t total = 0;

	TRY(user_path_at(dfd, name, lookup, &path));
	TRY(xattr_read_all(path.dentry->inode, &list));
	size = min(size, (size_t)XATTR_SIZE_MAX);
	for (const struct xattr *each = list; each; each = each->next) {
		size_t length = strlen(each->name) + 1;

		if (!xattr_is_shown(each))
			continue;
		if (total + length <= size && copy_to_user(names + total, each->name, length))
			return -EFAULT;
		total += length;
	}
	if (size && total > size)
		return size == XATTR_SIZE_MAX ? -E2BIG : -ERANGE;
	return (s64)total;
}

s64 sys_listxattr(const char *name, char *list, size_t size)
{
	return list_on(AT_FDCWD, name, LOOKUP_FOLLOW, list, size);
}

s64 sys_llistxattr(const char *name, char *list, size_t size)
{
	return list_on(AT_FDCWD, name, 0, list, size);
}

s64 sys_flistxattr(int fd, char *list, size_t size)
{
	return list_on(fd, NULL, LOOKUP_FD, list, size);
}

/* ---- removing -------------------------------------------------------------------------------- */

static s64 remove_on(int dfd, const char __user *name, unsigned lookup, const char __user *user_key)
{
	struct path path __free(path) = {0};
	char key[XATTR_NAME_MAX + 1];

	TRY(user_path_at(dfd, name, lookup, &path));
	struct mount *written __free(mount_drop_write) = TRY_PTR(mount_want_write(path.mount));
	TRY(get_key(key, user_key));
	return xattr_change(&path, key, NULL, 0, XATTR_REPLACE);
}

s64 sys_removexattr(const char *name, const char *key)
{
	return remove_on(AT_FDCWD, name, LOOKUP_FOLLOW, key);
}

s64 sys_lremovexattr(const char *name, const char *key)
{
	return remove_on(AT_FDCWD, name, 0, key);
}

s64 sys_fremovexattr(int fd, const char *key)
{
	return remove_on(fd, NULL, LOOKUP_FD, key);
}
