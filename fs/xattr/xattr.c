/*
 * xattr.c - extended attributes: lists of them in memory, and who may do what in which namespace.
 * See xattr.h. What is kept, and where, is the file system's (filesystem.xattrs).
 *
 * user.*      as the file's contents; only regular files and directories have them
 * trusted.*   root's alone: others neither see nor change them
 * security.*  read by all, changed by root
 * system.*    access lists, which no file system here knows: EOPNOTSUPP, as every other prefix
 *
 * The order of the checks is Linux's, since it decides which errno a program sees.
 */
#include "fs/inode/permission.h"
#include "fs/inode/times.h"
#include "fs/xattr/xattr.h"
#include "core/memory/slab.h"

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
	const struct xattr_operations *op = inode->sb->type->xattrs;
	int refused = change ? -EPERM : -ENODATA;

	if (change && (inode->attributes & FS_KEPT_FL))
		return -EPERM;
	if (has_prefix(name, "user.")) {
		if (!directory && !S_ISREG(inode->mode))
			return refused;
		if (change && directory && (inode->mode & S_ISVTX) && !owner_or_root(inode))
			return -EPERM;
		TRY(inode_permission(inode, mask));
		if (!op || !op->user)
			return -EOPNOTSUPP;
	} else if (has_prefix(name, "trusted.")) {
		if (!capable(current->cred))
			return refused;
	} else if (has_prefix(name, "security.")) {
		if (change && !capable(current->cred))
			return -EPERM;
	} else {
		if (!has_prefix(name, "system."))
			TRY(inode_permission(inode, mask));
		return -EOPNOTSUPP;
	}
	if (!op)
		return -EOPNOTSUPP;
	return strchr(name, '.')[1] ? 0 : -EINVAL;
}

/* ---- changing and reading -------------------------------------------------------------------- */

int xattr_change(const struct path *path, const char *name, const void *value, size_t size,
		 int flags)
{
	struct inode *inode = path->dentry->inode;

	guard(write, &inode->lock);
	TRY(xattr_permission(inode, name, MAY_WRITE));
#ifdef CONFIG_SECURITY_LABELS
	if (!strcmp(name, LABEL_ATTRIBUTE)) {
		TRY(label_change(path, value, size, flags));
		return changed_by(path->dentry, inode, IN_ATTRIB);
	}
#endif
	TRY(inode->sb->type->xattrs->set(inode, name, value, size, flags));
	return changed_by(path->dentry, inode, IN_ATTRIB);
}

int xattr_read(struct inode *inode, const char *name, struct xattr **list)
{
	guard(read, &inode->lock);
	TRY(xattr_permission(inode, name, MAY_READ));
	TRY(inode->sb->type->xattrs->load(inode, name, list));
	return *list ? 0 : -ENODATA;
}

int xattr_read_all(struct inode *inode, struct xattr **list)
{
	const struct xattr_operations *op = inode->sb->type->xattrs;

	guard(read, &inode->lock);
	if (!op)
		return 0;
	return op->load(inode, NULL, list);
}

bool xattr_is_shown(const struct xattr *xattr)
{
	if (has_prefix(xattr->name, "trusted."))
		return capable(current->cred);
	return !has_prefix(xattr->name,
			   "system."); /* access lists of other systems: kept, not known */
}
