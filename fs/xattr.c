/*
 * xattr.c - extended attributes: the calls, and who may do what in which namespace. What is kept,
 * and where, is the file system's (inode_operations.getxattr and its neighbours in vfs.h).
 *
 * user.*      as the file's contents; only regular files and directories have them
 * trusted.*   root's alone: others neither see nor change them
 * security.*  read by all, changed by root
 * system.*    access lists, which no file system here knows: EOPNOTSUPP, as every other prefix
 *
 * The order of the checks is Linux's, since it decides which errno a program sees.
 */
#include "fs/internal.h"

static bool has_prefix(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

bool xattr_listed(const char *name)
{
	return !has_prefix(name, "trusted.") || capable(current->cred);
}

/* @mask: MAY_READ or MAY_WRITE. What may not be read is said not to be there. */
static int xattr_permission(struct inode *inode, const char *name, int mask)
{
	bool change = mask & MAY_WRITE, root = capable(current->cred);
	int refused = change ? -EPERM : -ENODATA;

	if (has_prefix(name, "system."))
		return 0;
	if (has_prefix(name, "security."))
		return !change || root ? 0 : -EPERM;
	if (has_prefix(name, "trusted."))
		return root ? 0 : refused;
	if (has_prefix(name, "user.")) {
		if (!S_ISREG(inode->mode) && !S_ISDIR(inode->mode))
			return refused;
		if (change && S_ISDIR(inode->mode) && (inode->mode & S_ISVTX) &&
		    !owner_or_root(inode))
			return -EPERM;
	}
	return inode_permission(inode, mask);
}

/* Has the file system such attributes at all? */
static int xattr_supported(const struct inode *inode, const char *name)
{
	static const char *const prefixes[] = {"user.", "trusted.", "security."};

	if (!inode->op->getxattr)
		return -EOPNOTSUPP;
	for (unsigned i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (has_prefix(name, prefixes[i]))
			return name[strlen(prefixes[i])] ? 0 : -EINVAL;
	return -EOPNOTSUPP;
}

/* @key: XATTR_NAME_MAX + 1 bytes. */
static int get_key(char *key, const char __user *from)
{
	s64 length = strncpy_from_user(key, from, XATTR_NAME_MAX + 1);

	if (length < 0)
		return (int)length;
	return length == 0 || length > XATTR_NAME_MAX ? -ERANGE : 0;
}

/* ---- changing -------------------------------------------------------------------------------- */

static int change(const struct path *path, const char *key, const void *value, size_t size,
		  int flags)
{
	struct inode *inode = path->dentry->inode;
	int error;

	guard(write, &inode->lock);
	error = xattr_permission(inode, key, MAY_WRITE);
	if (!error)
		error = xattr_supported(inode, key);
	return error ? error : inode->op->setxattr(inode, key, value, size, flags);
}

static s64 set_on(const struct path *path, const char __user *user_key, const void __user *from,
		  size_t size, int flags)
{
	void *value __free(kfree) = NULL;
	char key[XATTR_NAME_MAX + 1];
	int error = mount_writable(path->mount);

	if (!error && (flags & ~(XATTR_CREATE | XATTR_REPLACE)))
		error = -EINVAL;
	if (!error)
		error = get_key(key, user_key);
	if (error)
		return error;
	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	value = kmalloc(size, GFP_KERNEL);
	if (!value)
		return -ENOMEM;
	if (copy_from_user(value, from, size))
		return -EFAULT;
	return change(path, key, value, size, flags);
}

static s64 remove_on(const struct path *path, const char __user *user_key)
{
	char key[XATTR_NAME_MAX + 1];
	int error = mount_writable(path->mount);

	if (!error)
		error = get_key(key, user_key);
	return error ? error : change(path, key, NULL, 0, XATTR_REPLACE);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The value of attribute @key, or the list of all if @key is NULL, into @buffer of @size. */
static s64 query(struct inode *inode, const char *key, void *buffer, size_t size)
{
	s64 error;

	guard(read, &inode->lock);
	if (!key)
		return inode->op->listxattr ? inode->op->listxattr(inode, buffer, size) : 0;
	error = xattr_permission(inode, key, MAY_READ);
	if (!error)
		error = xattr_supported(inode, key);
	return error ? error : inode->op->getxattr(inode, key, buffer, size);
}

static s64 query_to_user(const struct path *path, const char *key, void __user *to, size_t size)
{
	void *buffer __free(kfree) = NULL;
	s64 result;

	size = min(size, (size_t)XATTR_SIZE_MAX);
	buffer = kmalloc(size, GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	result = query(path->dentry->inode, key, buffer, size);
	if (result == -ERANGE && size == XATTR_SIZE_MAX)
		return -E2BIG;
	return result > 0 && size && copy_to_user(to, buffer, (size_t)result) ? -EFAULT : result;
}

static s64 get_on(const struct path *path, const char __user *user_key, void __user *value,
		  size_t size)
{
	char key[XATTR_NAME_MAX + 1];
	int error = get_key(key, user_key);

	return error ? error : query_to_user(path, key, value, size);
}

static s64 list_on(const struct path *path, char __user *list, size_t size)
{
	return query_to_user(path, NULL, list, size);
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Each comes in three: by name, by name but not through a last link, and by descriptor. */
#define ARGUMENTS(...) __VA_ARGS__
#define ONE_WAY(call, work, type, dfd, name, lookup, parameters, ...)                              \
	s64 sys_##call(type, ARGUMENTS parameters)                                                 \
	{                                                                                          \
		struct path path __free(path) = {0};                                               \
		s64 error = user_path_at(dfd, name, lookup, &path);                                \
                                                                                                   \
		return error ? error : work(&path, __VA_ARGS__);                                   \
	}
#define THREE_WAYS(call, work, ...)                                                                \
	ONE_WAY(call, work, const char *name, AT_FDCWD, name, LOOKUP_FOLLOW, __VA_ARGS__)          \
	ONE_WAY(l##call, work, const char *name, AT_FDCWD, name, 0, __VA_ARGS__)                   \
	ONE_WAY(f##call, work, int fd, fd, NULL, LOOKUP_FD, __VA_ARGS__)

THREE_WAYS(setxattr, set_on, (const char *key, const void *value, size_t size, int flags), key,
	   value, size, flags)
THREE_WAYS(getxattr, get_on, (const char *key, void *value, size_t size), key, value, size)
THREE_WAYS(listxattr, list_on, (char *list, size_t size), list, size)
THREE_WAYS(removexattr, remove_on, (const char *key), key)
