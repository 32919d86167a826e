/*
 * text.c - paths as text: as programs give them, copied and then walked (see namei.h), and as
 * getcwd and /proc tell them.
 *
 * d_path() goes up through dentries and mounts: so it stands above both, takes mount_lock and,
 * inside of it, dentry_tree_lock.
 */
#include "fs/path/namei.h"
#include "fs/tmpfs/tmpfs.h"

/* ---- given ----------------------------------------------------------------------------------- */

int path_name_get(struct path_name *name, const char __user *from)
{
	name->allocated = NULL;
	name->text = name->small;
	s64 small = TRY(strncpy_from_user(name->small, from, NAME_SMALL));
	if (likely(small < NAME_SMALL))
		return 0;
	/* It does not fit the caller's frame: PATH_MAX and slack. */
	name->text = name->allocated = TRY_PTR(kmalloc(2 * PAGE_SIZE, GFP_KERNEL));
	s64 length = TRY(strncpy_from_user(name->allocated, from, PATH_MAX));
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int user_path_at(int dfd, const char __user *from, unsigned flags, struct path *path)
{
	if (flags & (LOOKUP_FD | LOOKUP_FD_PATH))
		return descriptor_path(dfd, flags, path);
	struct path_name name __free(name);
	TRY(path_name_get(&name, from));
	return path_lookup(dfd, name.text, flags, NULL, path);
}

int kern_path(const char *name, unsigned flags, struct path *path)
{
	return path_lookup(AT_FDCWD, name, flags, NULL, path);
}

/* ---- told ------------------------------------------------------------------------------------ */

/* @text in front of @at, or NULL if there is no room from @start on, or @at is NULL. */
static char *prepend(char *at, const char *start, const char *text, size_t length)
{
	if (at && (size_t)(at - start) >= length)
		return memcpy(at - length, text, length);
	return NULL;
}

/* Into @buf how an inode without a name is told, if it is no file of tmpfs: true. */
static bool nameless_text(const struct inode *inode, char *buf, size_t size)
{
	const char *kind = S_ISFIFO(inode->mode) ? "pipe" : "socket";

#ifdef CONFIG_MOUNT_NS
	if (namespace_name(inode, buf, size))
		return true;
#endif
	if (S_ISREG(inode->mode))
		return false;
	if (inode->mode & S_IFMT)
		snprintf(buf, size, "%s:[%llu]", kind, (unsigned long long)inode->number);
	else
		snprintf(buf, size, "anon_inode:%s", (const char *)inode->private);
	return true;
}

char *d_path(const struct path *path, const struct path *root, char *buf, size_t size)
{
	struct mount *mount = path->mount;
	struct dentry *dentry = path->dentry;
	char *at = buf + size - 1, *end;

	if (tmpfs_is_nameless(dentry) && nameless_text(dentry->inode, buf, size))
		return buf;
	*at = '\0';
	if (d_unlinked(dentry))
		at = prepend(at, buf, " (deleted)", 10);
	end = at;
	guard(spinlock, mount_lock());
	guard(spinlock, &dentry_tree_lock);
	while (at && (dentry != root->dentry || mount != root->mount)) {
		if (dentry == mount->root && mount->parent != mount) {
			dentry = mount->mountpoint;
			mount = mount->parent;
		} else if (dentry == mount->root || dentry->parent == dentry) {
			if (dentry != mount->root) /* moved out of it: where to is not told */
				at = end;
			if (at == end)
				at = prepend(at, buf, "/", 1);
			at = prepend(at, buf, UNREACHABLE, sizeof(UNREACHABLE) - 1);
			break;
		} else {
			at = prepend(at, buf, dentry->name, dentry->name_length);
			at = prepend(at, buf, "/", 1);
			dentry = dentry->parent;
		}
	}
	if (at == end)
		at = prepend(at, buf, "/", 1);
	return at ?: ERR_PTR(-ENAMETOOLONG);
}
