/*
 * names.c - what is done to names in locked directories: looking one up, making, linking, removing
 * and renaming. See names.h.
 *
 * The file system does the work; the checks before it are Linux's, and in its order, since that
 * decides which errno a program sees.
 *
 * Locks: sb->rename_lock (renames across directories), then directories, an ancestor first, then
 * the inode whose name it is. A rename across directories locks two of those, if each is a
 * directory that gets another parent, or one that and the other replaced: neither lies below the
 * other, and rename_lock sees to it that nobody else locks two so. Levels for the lock-order
 * checker: names.h.
 */
#include "fs/inode/permission.h"
#include "fs/path/dcache.h"
#include "fs/direct_hooks.h"
#include "fs/path/names.h"

/* ---- looking up ------------------------------------------------------------------------------ */

struct dentry *lookup_locked(struct dentry *parent, const struct component *name, enum look look)
{
	struct inode *dir = parent->inode;

	lockdep_assert_held(&dir->lock);
	if (name->length > NAME_MAX) /* what was removed has no name at all */
		return ERR_PTR(is_dead(dir) ? -ENOENT : -ENAMETOOLONG);
	struct dentry *dentry =
		d_lookup(parent, name, look == FIRST_LOOK ? HASH_FIND : HASH_LOOK);
	if (dentry)
		return cached_absence(dir, cached_name(dir, dentry));
	if (is_dead(dir))
		return ERR_PTR(-ENOENT);
	dentry = d_alloc_hashed(parent, name->name, name->length, name->hash);
	if (!dentry)
		return ERR_PTR(-ENOMEM);
	int error = lookup_uncached(dir, dentry);
	if (!error)
		return dentry;
	dput(dentry);
	return ERR_PTR(error);
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

	lockdep_assert_held(&dir->lock);
	if (old->mount != parent->mount)
		return -EXDEV;
	TRY(may_link(inode));
	TRY(may_create(dir, dentry));
	if (!dir->op->link || S_ISDIR(inode->mode) || (inode->attributes & FS_KEPT_FL))
		return -EPERM;
	guard(child, inode);
	if (inode->nlink == 0 && !inode->linkable)
		return -ENOENT;
	TRY(dir->op->link(old->dentry, dir, dentry));
	inode->linkable = false;
	return 0;
}

/* What of @mode a new object in @dir gets. */
static __always_inline umode_t new_mode(const struct inode *dir, umode_t mode)
{
	const struct cred *cred = current->cred;

	/* who is not of the directory's group makes no program that takes it on */
	if ((dir->mode & S_ISGID) && !S_ISDIR(mode) && cred->euid && !in_group(cred, dir->gid) &&
	    (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		mode &= ~(umode_t)S_ISGID;
	return mode & ~current->fs->umask;
}

int make_locked(const struct path *parent, struct dentry *dentry, const struct new_name *new)
{
	struct inode *dir = parent->dentry->inode;
	umode_t mode = new_mode(dir, new->mode);

	lockdep_assert_held(&dir->lock);
	struct mount *written __free(mount_drop_write) = TRY_PTR(mount_want_write(parent->mount));
	if (new->old)
		return link_locked(parent, dentry, new->old);
	TRY(may_create(dir, dentry));
	if (!dir->op->make)
		return S_ISREG(mode) ? -EACCES : -EPERM;
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && !capable(current->cred))
		return -EPERM;
	if (S_ISLNK(mode))
		mode = new->mode; /* whose mode means nothing, and is not masked */
	return dir->op->make(dir, dentry, mode, new->rdev, new->target);
}

int make_nameless(const struct path *parent, umode_t mode, struct path *path)
{
	struct inode *dir = parent->dentry->inode;
	char name[24 + 8]; /* "#" and its number: what /proc shows; slack (dentry.h) */

	struct mount *written __free(mount_drop_write) = TRY_PTR(mount_want_write(parent->mount));
	TRY(inode_permission(dir, MAY_WRITE | MAY_EXEC));
	if (!dir->op->make_nameless)
		return -EOPNOTSUPP;
	struct inode *inode = TRY_PTR(dir->op->make_nameless(dir, new_mode(dir, mode)));
	int length = snprintf(name, sizeof(name), "#%llu", (unsigned long long)inode->number);
	struct dentry *dentry = d_alloc_hashed(parent->dentry, name, (u32)length, 0);
	if (!dentry) {
		iput(inode);
		return -ENOMEM;
	}
	d_instantiate(dentry, inode); /* it is never hashed: as one whose name was removed */
	*path = (struct path){mntget(parent->mount), dentry};
	return 0;
}

/* ---- one name that is there ------------------------------------------------------------------ */

int remove_locked(struct inode *dir, struct dentry *dentry, enum removed_kind kind)
{
	struct inode *inode = dentry->inode;

	lockdep_assert_held(&dir->lock);
	TRY(may_delete(dir, dentry, kind == REMOVE_DIRECTORY ? S_IFDIR : S_IFREG));
	if (!dir->op->remove)
		return -EPERM;
#ifdef CONFIG_DCACHE_FASTPATH
	guard(change_place, led_through(dentry));
#endif
	guard(child, inode); /* till the name is gone: nothing is mounted on it meanwhile */
	if (is_mountpoint(dentry))
		return -EBUSY;
	TRY(dir->op->remove(dir, dentry));
	if (kind == REMOVE_DIRECTORY)
		shrink_dcache_children(dentry);
	d_delete_name(dentry);
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
	struct dentry *to_b = child_towards(b, a), *to_a = child_towards(a, b);
	struct dentry *first = a, *second = b;
	if (to_a || (!to_b && b < a)) {
		first = b;
		second = a;
	}
	down_write_nested(&first->inode->lock, LOCK_PARENT);
	down_write_nested(&second->inode->lock, LOCK_PARENT2);
	return to_b ?: to_a;
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
			     const struct dentry *new, unsigned flags)
{
	struct inode *source = old->inode, *target = new->inode;
	umode_t other = flags & RENAME_EXCHANGE ? target->mode : source->mode;

	lockdep_assert_held(&old_dir->lock);
	TRY(may_delete(old_dir, old, source->mode));
	if (target)
		TRY(may_delete(new_dir, new, other));
	else
		TRY(may_create(new_dir, new));
	if (!old_dir->op->rename)
		return -EPERM;
	if (old_dir != new_dir && S_ISDIR(source->mode)) /* its ".." changes */
		TRY(inode_permission(source, MAY_WRITE));
	if (old_dir != new_dir && flags & RENAME_EXCHANGE && S_ISDIR(other))
		TRY(inode_permission(target, MAY_WRITE));
	return 0;
}

/* Is what the two names stand for such that @flags and slashes behind them allow it? */
static int rename_makes_sense(const struct last *from, const struct dentry *old,
			      const struct last *to, const struct dentry *new, unsigned flags)
{
	const struct inode *source = old->inode, *target = new->inode;
	const struct inode *comes_here = flags & RENAME_EXCHANGE ? target : source;

	if ((flags & RENAME_EXCHANGE) && !target)
		return -ENOENT;
	if ((flags & RENAME_NOREPLACE) && target)
		return -EEXIST;
	if ((from->trailing_slash && !S_ISDIR(source->mode)) ||
	    (to->trailing_slash && !S_ISDIR(comes_here->mode)))
		return -ENOTDIR;
	return 0;
}

/* The directories are locked; @ancestor is what that told. *@gone: the file that was replaced. */
static int rename_locked(struct dentry *old_parent, const struct last *from,
			 struct dentry *new_parent, const struct last *to,
			 const struct dentry *ancestor, unsigned flags, struct inode **gone)
{
	struct inode *old_dir = old_parent->inode, *new_dir = new_parent->inode;
	bool exchange = flags & RENAME_EXCHANGE;
	struct dentry *old __free(dput) =
		TRY_PTR(lookup_locked(old_parent, &from->name, FIRST_LOOK));

	lockdep_assert_held(&old_dir->lock);
	lockdep_assert_held(&new_dir->lock);
	if (!old->inode)
		return -ENOENT;
	struct dentry *new __free(dput) =
		TRY_PTR(lookup_locked(new_parent, &to->name, FIRST_LOOK));
	struct inode *source = old->inode, *target = new->inode;
	TRY(rename_makes_sense(from, old, to, new, flags));
	if (old == ancestor)
		return -EINVAL;
	if (new == ancestor)
		return exchange ? -EINVAL : -ENOTEMPTY;
	if (source == target) /* two names of one file: nothing to do */
		return 0;
	TRY(rename_permission(old_dir, old, new_dir, new, flags));
	/* Locked, below both parents: a directory whose ".." changes, and what is replaced. */
	struct inode *moved = NULL, *other = target;
	if (old_dir != new_dir && S_ISDIR(source->mode))
		moved = source;
	if (exchange && (old_dir == new_dir || !S_ISDIR(target->mode)))
		other = NULL;
	if (!exchange && target)
		ihold(*gone = target);
	guard(child, moved);
	guard(child2, other);
	if (is_mountpoint(old) || is_mountpoint(new))
		return -EBUSY;
#ifdef CONFIG_DCACHE_FASTPATH
	guard(mounted_meanwhile, old);
	guard(mounted_meanwhile, new);
	guard(change_place, led_through(old));
	guard(change_place, led_through(new));
#endif
	TRY(old_dir->op->rename(old_dir, old, new_dir, new, flags));
	if (!exchange && target && S_ISDIR(target->mode))
		shrink_dcache_children(new);
	d_move_name(old, new, flags);
	notify_rename(old_dir, from, new_dir, to, old, new, flags);
	return 0;
}

int rename_names(struct dentry *old_dir, const struct last *old, struct dentry *new_dir,
		 const struct last *new, unsigned flags)
{
	struct inode *gone __free(removed) = NULL;
	const struct dentry *ancestor = lock_directories(old_dir, new_dir);
	int error = rename_locked(old_dir, old, new_dir, new, ancestor, flags, &gone);

	unlock_directories(old_dir, new_dir);
	return error;
}
