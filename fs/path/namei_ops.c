/*
 * namei_ops.c - making, removing, linking and renaming names: the system calls of that kind.
 *
 * Each walks to the directory of the last component, locks it, looks the name up and lets the file
 * system do the work. The order of the checks is Linux's, since it decides which errno a program
 * sees.
 *
 * Locks: sb->rename_lock (renames across directories), then directories, an ancestor first, then
 * the inode whose name it is. A rename across directories locks two of those, if each is a
 * directory that gets another parent, or one that and the other replaced: neither lies below the
 * other, and rename_lock sees to it that nobody else locks two so. Levels for the lock-order
 * checker: internal.h.
 */
#include "fs/internal.h"

/* One name in one directory. */
struct name_at {
	struct path_name text;
	struct path parent; /* referenced */
	struct last last;
};

static int name_at_get(struct name_at *at, int dfd, const char __user *name)
{
	at->parent.mount = NULL;
	TRY(path_name_get(&at->text, name));
	return path_lookup(dfd, at->text.text, 0, NULL, &at->last, &at->parent);
}

DEFINE_FREE(name_at, struct name_at, if (variable->parent.mount) path_put(&variable->parent);
	    __free_name(&variable->text))

/* Referenced, or ERR_PTR. The directory is locked. */
static struct dentry *name_lookup(const struct name_at *at)
{
	return lookup_locked(at->parent.dentry, at->last.name, at->last.length, true);
}

/* ---- new names ------------------------------------------------------------------------------- */

/* fs.protected_hardlinks: who links to another's file must be able to read and write it, and it
 * must be an ordinary file without set-id bits. */
static int may_link(struct inode *inode)
{
	umode_t mode = inode->mode;

	if (owner_or_root(inode))
		return 0;
	if (!S_ISREG(mode) || (mode & S_ISUID) ||
	    (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) ||
	    inode_permission(inode, MAY_READ | MAY_WRITE))
		return -EPERM;
	return 0;
}

static int link_locked(const struct path *parent, struct dentry *dentry, const struct path *old)
{
	struct inode *dir = parent->dentry->inode, *inode = old->dentry->inode;

	if (old->mount != parent->mount)
		return -EXDEV;
	TRY(may_link(inode));
	TRY(may_create(dir, dentry));
	if (!dir->op->link || S_ISDIR(inode->mode))
		return -EPERM;
	guard(child, inode);
	return inode->nlink == 0 ? -ENOENT : dir->op->link(old->dentry, dir, dentry);
}

int make_locked(const struct path *parent, struct dentry *dentry, const struct new_name *new)
{
	struct inode *dir = parent->dentry->inode;
	const struct cred *cred = current->cred;
	umode_t mode = new->mode;

	/* who is not of the directory's group makes no program that takes it on */
	if ((dir->mode & S_ISGID) && !S_ISDIR(mode) && cred->euid && !in_group(cred, dir->gid) &&
	    (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		mode &= ~(umode_t)S_ISGID;
	mode &= ~current->fs->umask;
	TRY(mount_writable(parent->mount));
	if (new->old)
		return link_locked(parent, dentry, new->old);
	TRY(may_create(dir, dentry));
	if (!dir->op->make)
		return S_ISREG(mode) ? -EACCES : -EPERM;
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && !capable(current->cred))
		return -EPERM;
	return dir->op->make(dir, dentry, S_ISLNK(mode) ? new->mode : mode, new->rdev, new->target);
}

static int make_name(int dfd, const char __user *name, struct new_name *new)
{
	struct path_name text __free(name);
	struct path path __free(path) = {0};

	TRY(path_name_get(&text, name));
	TRY(path_lookup(dfd, text.text, LOOKUP_EXCLUSIVE, new, NULL, &path));
	return new->made ? 0 : -EEXIST;
}

s64 sys_mkdirat(int dfd, const char *name, umode_t mode)
{
	struct new_name new = {.mode = S_IFDIR | (mode & (S_IRWXUGO | S_ISVTX))};

	return make_name(dfd, name, &new);
}

s64 sys_mknodat(int dfd, const char *name, umode_t mode, u32 device)
{
	const unsigned types =
		1 << DT_REG | 1 << DT_CHR | 1 << DT_BLK | 1 << DT_FIFO | 1 << DT_SOCK;
	struct new_name new = {.mode = (u16)mode | (mode & S_IFMT ? 0 : S_IFREG), .rdev = device};

	/* The ABI's number has the minor's upper bits at bit 20; ours are below 256. */
	if (device >> 20)
		return -EINVAL;
	if (!(1u << S_DT(new.mode) & types))
		return S_ISDIR(mode) ? -EPERM : -EINVAL;
	return make_name(dfd, name, &new);
}

s64 sys_symlinkat(const char *target, int dfd, const char *name)
{
	struct path_name text __free(name);

	TRY(path_name_get(&text, target));
	struct new_name new = {.mode = S_IFLNK | 0777, .target = text.text};
	return *text.text ? make_name(dfd, name, &new) : -ENOENT;
}

s64 sys_linkat(int old_dfd, const char *old_name, int new_dfd, const char *name, int flags)
{
	struct path old __free(path) = {0};
	struct new_name new = {.old = &old};

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if ((flags & AT_EMPTY_PATH) && !capable(current->cred))
		return -ENOENT;
	TRY(user_path_at(old_dfd, old_name, (unsigned)flags, &old)); /* as LOOKUP_* */
	return make_name(new_dfd, name, &new);
}

/* ---- one name that is there ------------------------------------------------------------------ */

s64 sys_unlinkat(int dfd, const char *name, int flags)
{
	static const int wrong[] = {
		[LAST_ROOT] = -EBUSY, [LAST_DOT] = -EINVAL, [LAST_DOTDOT] = -ENOTEMPTY};
	bool directory = flags & AT_REMOVEDIR;
	/* let go once the directory is unlocked, since freeing its blocks may take long */
	struct inode *gone __free(iput) = NULL;

	if (flags & ~AT_REMOVEDIR)
		return -EINVAL;
	struct name_at at __free(name_at);
	TRY(name_at_get(&at, dfd, name));
	if (at.last.type != LAST_NORM)
		return directory ? wrong[at.last.type] : -EISDIR;
	TRY(mount_writable(at.parent.mount));
	struct inode *dir = at.parent.dentry->inode;
	guard(parent, dir);
	struct dentry *dentry __free(dput) = TRY_PTR(name_lookup(&at));
	struct inode *inode = dentry->inode;
	if (!inode)
		return -ENOENT;
	if (at.last.trailing_slash && !directory)
		return S_ISDIR(inode->mode) ? -EISDIR : -ENOTDIR;
	TRY(may_delete(dir, dentry, directory));
	if (!dir->op->remove)
		return -EPERM;
	ihold(inode);
	gone = inode;
	{
		guard(child, inode);
		TRY(is_mountpoint(dentry) ? -EBUSY : dir->op->remove(dir, dentry));
	}
	if (directory)
		shrink_dcache_children(dentry);
	d_delete(dentry);
	return 0;
}

/* ---- rename ---------------------------------------------------------------------------------- */

/* The child of @ancestor on the way down to @dentry, or NULL if @dentry does not lie below it. */
static struct dentry *child_towards(struct dentry *dentry, const struct dentry *ancestor)
{
	for (; dentry->parent != dentry; dentry = dentry->parent)
		if (dentry->parent == ancestor)
			return dentry;
	return NULL;
}

/* Two directories under rename_lock, so the tree stays as it is: the ancestor first, else by
 * address. The child of one through which the other lies below it, or NULL. */
static struct dentry *lock_directories(struct dentry *a, struct dentry *b)
{
	if (a == b) {
		down_write_nested(&a->inode->lock, LOCK_PARENT);
		return NULL;
	}
	mutex_lock(&a->inode->sb->rename_lock);
	struct dentry *to_b = child_towards(b, a), *to_a = to_b ? NULL : child_towards(a, b);
	bool a_first = to_b || (!to_a && a < b);
	down_write_nested(&(a_first ? a : b)->inode->lock, LOCK_PARENT);
	down_write_nested(&(a_first ? b : a)->inode->lock, LOCK_PARENT2);
	return to_b ? to_b : to_a;
}

static void unlock_directories(struct dentry *a, struct dentry *b)
{
	up_write(&a->inode->lock);
	if (a == b)
		return;
	up_write(&b->inode->lock);
	mutex_unlock(&a->inode->sb->rename_lock);
}

/* May @old, which is there, be renamed to @new so? */
static int rename_permission(struct inode *old_dir, const struct dentry *old, struct inode *new_dir,
			     const struct dentry *new, bool exchange)
{
	struct inode *source = old->inode, *target = new->inode;
	bool directory = S_ISDIR(source->mode),
	     replaces = exchange ? S_ISDIR(target->mode) : directory;

	TRY(may_delete(old_dir, old, directory));
	TRY(target ? may_delete(new_dir, new, replaces) : may_create(new_dir, new));
	if (!old_dir->op->rename)
		return -EPERM;
	if (old_dir != new_dir && directory) /* its ".." changes */
		TRY(inode_permission(source, MAY_WRITE));
	if (old_dir != new_dir && exchange && replaces)
		TRY(inode_permission(target, MAY_WRITE));
	return 0;
}

/* The directories are locked; @ancestor is what that told. *@gone: the file that was replaced. */
static int rename_locked(const struct name_at *from, const struct name_at *to,
			 const struct dentry *ancestor, unsigned flags, struct inode **gone)
{
	struct inode *old_dir = from->parent.dentry->inode, *new_dir = to->parent.dentry->inode;
	bool exchange = flags & RENAME_EXCHANGE;
	struct dentry *old __free(dput) = TRY_PTR(name_lookup(from));

	if (!old->inode)
		return -ENOENT;
	struct dentry *new __free(dput) = TRY_PTR(name_lookup(to));
	struct inode *source = old->inode, *target = new->inode;
	if (exchange && !target)
		return -ENOENT;
	if ((flags & RENAME_NOREPLACE) && target)
		return -EEXIST;
	if ((from->last.trailing_slash && !S_ISDIR(source->mode)) ||
	    (to->last.trailing_slash && !S_ISDIR((exchange ? target : source)->mode)))
		return -ENOTDIR;
	if (old == ancestor)
		return -EINVAL;
	if (new == ancestor)
		return exchange ? -EINVAL : -ENOTEMPTY;
	if (source == target) /* two names of one file: nothing to do */
		return 0;
	TRY(rename_permission(old_dir, old, new_dir, new, exchange));
	/* Locked, below both parents: a directory whose ".." changes, and what is replaced. */
	struct inode *moved = old_dir != new_dir && S_ISDIR(source->mode) ? source : NULL;
	struct inode *other = target;
	if (exchange)
		other = old_dir != new_dir && S_ISDIR(target->mode) ? target : NULL;
	else if (target)
		ihold(*gone = target);
	guard(child, moved);
	guard(child2, other);
	if (is_mountpoint(old) || is_mountpoint(new))
		return -EBUSY;
	TRY(old_dir->op->rename(old_dir, old, new_dir, new, flags));
	if (!exchange && target && S_ISDIR(target->mode))
		shrink_dcache_children(new);
	d_move(old, new, exchange);
	return 0;
}

s64 sys_renameat2(int old_dfd, const char *old, int new_dfd, const char *new, u32 flags)
{
	struct inode *gone __free(iput) = NULL;

	if ((flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE)) ||
	    flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	struct name_at from __free(name_at);
	TRY(name_at_get(&from, old_dfd, old));
	struct name_at to __free(name_at);
	TRY(name_at_get(&to, new_dfd, new));
	if (from.parent.mount != to.parent.mount)
		return -EXDEV;
	if (from.last.type != LAST_NORM)
		return -EBUSY;
	if (to.last.type != LAST_NORM)
		return flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	TRY(mount_writable(from.parent.mount));
	struct dentry *a = from.parent.dentry, *b = to.parent.dentry;
	const struct dentry *ancestor = lock_directories(a, b);
	int error = rename_locked(&from, &to, ancestor, flags, &gone);
	unlock_directories(a, b);
	return error;
}

/* ---- readlink -------------------------------------------------------------------------------- */

s64 sys_readlinkat(int dfd, const char *name, char *buffer, int size)
{
	struct path path __free(path) = {0};
	char *copy __free(kfree) = NULL;
	char first = 0;

	if (size <= 0)
		return -EINVAL;
	TRY(user_path_at(dfd, name, LOOKUP_EMPTY, &path));
	struct inode *inode = path.dentry->inode;
	if (!S_ISLNK(inode->mode))
		return get_user(first, name) || first ? -EINVAL : -ENOENT;
	const char *text = inode->link;
	if (!text)
		text = copy = TRY_PTR(inode->op->get_link(inode));
	touch_inode_atime(inode, path.mount);
	s64 result = (s64)min(strlen(text), (size_t)size);
	return copy_to_user(buffer, text, (size_t)result) ? -EFAULT : result;
}
