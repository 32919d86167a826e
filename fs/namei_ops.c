/*
 * namei_ops.c - making, removing, linking and renaming names: what the system calls of that kind
 * stand on.
 *
 * Each walks to the directory of the last component, locks it, looks the name up and lets the file
 * system do the work. The order of the checks is Linux's, since it decides which errno a program
 * sees.
 *
 * Locks: sb->rename_lock (renames across directories), then directories, an ancestor first, then
 * the inode whose name it is. Levels for the lock-order checker: internal.h.
 */
#include "fs/initramfs.h"
#include "fs/internal.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"

/* One name in one directory, as the calls below hold it. */
struct name_at {
	struct path_name text;
	struct path parent; /* referenced */
	struct last last;
};

/* Walk to the directory of at->text, which is let go on failure. */
static int name_at_walk(struct name_at *at, int dfd)
{
	int error = path_lookup_parent(dfd, at->text.text, &at->parent, &at->last);

	if (error)
		path_name_put(&at->text);
	return error;
}

static int name_at_get(struct name_at *at, int dfd, const char __user *name)
{
	int error = path_name_get(&at->text, name);

	return error ? error : name_at_walk(at, dfd);
}

static void name_at_put(struct name_at *at)
{
	path_put(&at->parent);
	path_name_put(&at->text);
}

static struct inode *parent_inode(const struct name_at *at)
{
	return at->parent.dentry->inode;
}

/* ---- new names ------------------------------------------------------------------------------- */

/*
 * Lock the directory of at->text and find that the name is free: *@dentry, negative. On success the
 * caller ends with create_end(); on failure at->text has been let go and there is nothing to undo.
 */
static int create_begin(struct name_at *at, int dfd, bool directory, struct dentry **dentry)
{
	struct dentry *found;
	int error = name_at_walk(at, dfd);

	if (error)
		return error;
	if (at->last.type != LAST_NORM) {
		name_at_put(at);
		return -EEXIST;
	}
	down_write_nested(&parent_inode(at)->lock, LOCK_PARENT);
	found = lookup_locked(at->parent.dentry, at->last.name, at->last.length);
	if (IS_ERR(found)) {
		error = (int)PTR_ERR(found);
	} else {
		if (found->inode)
			error = -EEXIST;
		else if (at->last.trailing_slash && !directory)
			error = -ENOENT;
		else
			error = mount_writable(at->parent.mount);
		if (error)
			dput(found);
	}
	if (error) {
		up_write(&parent_inode(at)->lock);
		name_at_put(at);
		return error;
	}
	*dentry = found;
	return 0;
}

static void create_end(struct name_at *at, struct dentry *dentry)
{
	dput(dentry);
	up_write(&parent_inode(at)->lock);
	name_at_put(at);
}

/* Each of the following takes over at->text. */
static int do_mkdir(struct name_at *at, int dfd, umode_t mode)
{
	struct dentry *dentry;
	struct inode *dir;
	int error = create_begin(at, dfd, true, &dentry);

	if (error)
		return error;
	dir = parent_inode(at);
	error = may_create(dir, dentry);
	if (!error && !dir->op->mkdir)
		error = -EPERM;
	if (!error)
		error = dir->op->mkdir(
			dir, dentry,
			S_IFDIR | (mode & (S_IRWXUGO | S_ISVTX) & ~current->fs->umask));
	create_end(at, dentry);
	return error;
}

int vfs_mkdir_at(int dfd, const char __user *name, umode_t mode)
{
	struct name_at at;
	int error = path_name_get(&at.text, name);

	return error ? error : do_mkdir(&at, dfd, mode);
}

static int mknod_checked(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev)
{
	int error = may_create(dir, dentry);

	if (error)
		return error;
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && !capable(current->cred))
		return -EPERM;
	if (S_ISREG(mode))
		return dir->op->create ? dir->op->create(dir, dentry, mode) : -EACCES;
	return dir->op->mknod ? dir->op->mknod(dir, dentry, mode, rdev) : -EPERM;
}

static int do_mknod(struct name_at *at, int dfd, umode_t mode, dev_t rdev)
{
	struct dentry *dentry;
	int error = create_begin(at, dfd, false, &dentry);

	if (error)
		return error;
	error = mknod_checked(parent_inode(at), dentry, mode & ~current->fs->umask, rdev);
	create_end(at, dentry);
	return error;
}

static int check_node_type(umode_t *mode)
{
	if ((*mode & S_IFMT) == 0)
		*mode |= S_IFREG;
	if (S_ISDIR(*mode))
		return -EPERM;
	return S_ISREG(*mode) || S_ISCHR(*mode) || S_ISBLK(*mode) || S_ISFIFO(*mode) ||
			       S_ISSOCK(*mode)
		       ? 0
		       : -EINVAL;
}

int vfs_mknod_at(int dfd, const char __user *name, umode_t mode, dev_t rdev)
{
	struct name_at at;
	int error = check_node_type(&mode);

	if (!error)
		error = path_name_get(&at.text, name);
	return error ? error : do_mknod(&at, dfd, mode, rdev);
}

/* @target, which has slack behind it, stays the caller's. */
static int do_symlink(const char *target, struct name_at *at, int dfd)
{
	struct dentry *dentry;
	struct inode *dir;
	int error = create_begin(at, dfd, false, &dentry);

	if (error)
		return error;
	dir = parent_inode(at);
	error = may_create(dir, dentry);
	if (!error)
		error = dir->op->symlink ? dir->op->symlink(dir, dentry, target) : -EPERM;
	create_end(at, dentry);
	return error;
}

int vfs_symlink_at(const char __user *target, int dfd, const char __user *name)
{
	struct path_name text;
	struct name_at at;
	int error = path_name_get(&text, target);

	if (error)
		return error;
	error = *text.text ? path_name_get(&at.text, name) : -ENOENT;
	if (!error)
		error = do_symlink(text.text, &at, dfd);
	path_name_put(&text);
	return error;
}

/* fs.protected_hardlinks: who links to another's file must be able to read and write it, and it
 * must be an ordinary file without set-id bits. */
static int may_link(struct inode *inode)
{
	umode_t mode = inode->mode;

	if (current->cred->fsuid == inode->uid || current->cred->fsuid == 0)
		return 0;
	if (!S_ISREG(mode) || (mode & S_ISUID) ||
	    (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) ||
	    inode_permission(inode, MAY_READ | MAY_WRITE))
		return -EPERM;
	return 0;
}

static int link_checked(const struct path *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = old->dentry->inode;
	int error = may_link(inode);

	if (!error)
		error = may_create(dir, dentry);
	if (error)
		return error;
	if (!dir->op->link || S_ISDIR(inode->mode))
		return -EPERM;
	down_write_nested(&inode->lock, LOCK_CHILD);
	error = inode->nlink == 0 ? -ENOENT : dir->op->link(old->dentry, dir, dentry);
	up_write(&inode->lock);
	return error;
}

/* @old stays the caller's. */
static int do_link(const struct path *old, struct name_at *at, int dfd)
{
	struct dentry *dentry;
	int error = create_begin(at, dfd, false, &dentry);

	if (error)
		return error;
	error = old->mount != at->parent.mount ? -EXDEV
					       : link_checked(old, parent_inode(at), dentry);
	create_end(at, dentry);
	return error;
}

int vfs_link_at(int old_dfd, const char __user *old_name, int new_dfd, const char __user *new_name,
		int at_flags)
{
	unsigned flags = 0;
	struct name_at at;
	struct path old;
	int error;

	if (at_flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if ((at_flags & AT_EMPTY_PATH) && !capable(current->cred))
		return -ENOENT;
	if (at_flags & AT_EMPTY_PATH)
		flags |= LOOKUP_EMPTY;
	if (at_flags & AT_SYMLINK_FOLLOW)
		flags |= LOOKUP_FOLLOW;
	error = user_path_at(old_dfd, old_name, flags, &old);
	if (error)
		return error;
	error = path_name_get(&at.text, new_name);
	if (!error)
		error = do_link(&old, &at, new_dfd);
	path_put(&old);
	return error;
}

/* ---- the same on kernel strings: initramfs.h ------------------------------------------------- */

int kern_mkdir(const char *name, umode_t mode)
{
	struct name_at at;
	int error = path_name_copy(&at.text, name);

	return error ? error : do_mkdir(&at, AT_FDCWD, mode);
}

int kern_mknod(const char *name, umode_t mode, dev_t rdev)
{
	struct name_at at;
	int error = check_node_type(&mode);

	if (!error)
		error = path_name_copy(&at.text, name);
	return error ? error : do_mknod(&at, AT_FDCWD, mode, rdev);
}

int kern_symlink(const char *target, const char *name)
{
	struct path_name text;
	struct name_at at;
	int error = path_name_copy(&text, target);

	if (error)
		return error;
	error = path_name_copy(&at.text, name);
	if (!error)
		error = do_symlink(text.text, &at, AT_FDCWD);
	path_name_put(&text);
	return error;
}

int kern_link(const char *old_name, const char *new_name)
{
	struct name_at at;
	struct path old;
	int error = kern_path(old_name, 0, &old);

	if (error)
		return error;
	error = path_name_copy(&at.text, new_name);
	if (!error)
		error = do_link(&old, &at, AT_FDCWD);
	path_put(&old);
	return error;
}

/* ---- removing -------------------------------------------------------------------------------- */

/* *@gone: a reference to the inode that lost its name, to be let go once the directory is unlocked,
 * since freeing its blocks may take long. */
static int unlink_locked(struct inode *dir, struct dentry *dentry, struct inode **gone)
{
	struct inode *inode = dentry->inode;
	int error = may_delete(dir, dentry, false);

	if (error)
		return error;
	if (!dir->op->unlink)
		return -EPERM;
	ihold(inode);
	*gone = inode;
	down_write_nested(&inode->lock, LOCK_CHILD);
	if (unlikely(dentry->flags & D_MOUNTED) && is_mountpoint(dentry))
		error = -EBUSY;
	else
		error = dir->op->unlink(dir, dentry);
	if (!error)
		d_delete(dentry);
	up_write(&inode->lock);
	return error;
}

static int rmdir_locked(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = dentry->inode;
	int error = may_delete(dir, dentry, true);

	if (error)
		return error;
	if (!dir->op->rmdir)
		return -EPERM;
	down_write_nested(&inode->lock, LOCK_CHILD);
	if (unlikely(dentry->flags & D_MOUNTED) && is_mountpoint(dentry))
		error = -EBUSY;
	else
		error = dir->op->rmdir(dir, dentry);
	if (!error) {
		spin_lock(&inode->spin);
		inode->flags |= I_DEAD;
		spin_unlock(&inode->spin);
	}
	up_write(&inode->lock);
	if (!error) {
		shrink_dcache_children(dentry);
		d_delete(dentry);
	}
	return error;
}

static int wrong_last(enum last_type type, bool directory)
{
	if (!directory)
		return -EISDIR;
	return type == LAST_DOTDOT ? -ENOTEMPTY : type == LAST_DOT ? -EINVAL : -EBUSY;
}

/* unlink("name/"): which error it is depends on what the name is. */
static int trailing_slash_error(const struct dentry *dentry)
{
	if (!dentry->inode)
		return -ENOENT;
	return S_ISDIR(dentry->inode->mode) ? -EISDIR : -ENOTDIR;
}

static int remove_locked(struct name_at *at, bool directory, struct inode **gone)
{
	struct dentry *dentry = lookup_locked(at->parent.dentry, at->last.name, at->last.length);
	int error;

	if (IS_ERR(dentry))
		return (int)PTR_ERR(dentry);
	if (!dentry->inode)
		error = -ENOENT;
	else if (directory)
		error = rmdir_locked(parent_inode(at), dentry);
	else if (at->last.trailing_slash)
		error = trailing_slash_error(dentry);
	else
		error = unlink_locked(parent_inode(at), dentry, gone);
	dput(dentry);
	return error;
}

int vfs_unlink_at(int dfd, const char __user *name, int at_flags)
{
	bool directory = at_flags & AT_REMOVEDIR;
	struct name_at at;
	struct inode *gone = NULL;
	int error;

	if (at_flags & ~AT_REMOVEDIR)
		return -EINVAL;
	error = name_at_get(&at, dfd, name);
	if (error)
		return error;
	if (at.last.type != LAST_NORM)
		error = wrong_last(at.last.type, directory);
	else
		error = mount_writable(at.parent.mount);
	if (!error) {
		down_write_nested(&parent_inode(&at)->lock, LOCK_PARENT);
		error = remove_locked(&at, directory, &gone);
		up_write(&parent_inode(&at)->lock);
	}
	if (gone)
		iput(gone);
	name_at_put(&at);
	return error;
}

/* ---- rename ---------------------------------------------------------------------------------- */

struct rename {
	struct name_at old_at, new_at;
	struct dentry *old, *new; /* referenced */
	/* child of one parent through which the other lies below it, or NULL */
	struct dentry *ancestor;
	unsigned flags;
};

/* The child of @ancestor on the way down to @dentry, or NULL if @dentry does not lie below it. */
static struct dentry *child_towards(struct dentry *dentry, const struct dentry *ancestor)
{
	for (; dentry->parent != dentry; dentry = dentry->parent)
		if (dentry->parent == ancestor)
			return dentry;
	return NULL;
}

/* Two directories under rename_lock, so the tree stays as it is: the ancestor first, else by
 * address. */
static void lock_directories(struct rename *r)
{
	struct dentry *a = r->old_at.parent.dentry, *b = r->new_at.parent.dentry, *swap;

	r->ancestor = NULL;
	if (a == b) {
		down_write_nested(&a->inode->lock, LOCK_PARENT);
		return;
	}
	mutex_lock(&a->sb->rename_lock);
	r->ancestor = child_towards(b, a);
	if (!r->ancestor) {
		r->ancestor = child_towards(a, b);
		if (r->ancestor || a > b) {
			swap = a;
			a = b;
			b = swap;
		}
	}
	down_write_nested(&a->inode->lock, LOCK_PARENT);
	down_write_nested(&b->inode->lock, LOCK_PARENT2);
}

static void unlock_directories(struct rename *r)
{
	struct dentry *a = r->old_at.parent.dentry, *b = r->new_at.parent.dentry;

	up_write(&a->inode->lock);
	if (a == b)
		return;
	up_write(&b->inode->lock);
	mutex_unlock(&a->sb->rename_lock);
}

/* Both names have been looked up: may what they are be renamed so? */
static int rename_types(const struct rename *r)
{
	bool exchange = r->flags & RENAME_EXCHANGE;

	if (!r->old->inode)
		return -ENOENT;
	if ((r->flags & RENAME_NOREPLACE) && r->new->inode)
		return -EEXIST;
	if (exchange && !r->new->inode)
		return -ENOENT;
	if (exchange && !S_ISDIR(r->new->inode->mode) && r->new_at.last.trailing_slash)
		return -ENOTDIR;
	if (!S_ISDIR(r->old->inode->mode)) {
		if (r->old_at.last.trailing_slash || (!exchange && r->new_at.last.trailing_slash))
			return -ENOTDIR;
	}
	if (r->old == r->ancestor)
		return -EINVAL;
	if (r->new == r->ancestor)
		return exchange ? -EINVAL : -ENOTEMPTY;
	return 0;
}

static int rename_permission(const struct rename *r)
{
	struct inode *old_dir = parent_inode(&r->old_at), *new_dir = parent_inode(&r->new_at);
	struct inode *source = r->old->inode, *target = r->new->inode;
	bool directory = S_ISDIR(source->mode), exchange = r->flags & RENAME_EXCHANGE;
	int error = may_delete(old_dir, r->old, directory);

	if (error)
		return error;
	if (!target)
		error = may_create(new_dir, r->new);
	else
		error = may_delete(new_dir, r->new, exchange ? S_ISDIR(target->mode) : directory);
	if (error)
		return error;
	if (!old_dir->op->rename)
		return -EPERM;
	if (old_dir != new_dir) { /* a directory's ".." changes */
		if (directory)
			error = inode_permission(source, MAY_WRITE);
		if (!error && exchange && S_ISDIR(target->mode))
			error = inode_permission(target, MAY_WRITE);
	}
	return error;
}

/* The directories and @target, which is replaced (NULL: none), are locked. */
static int rename_targeted(const struct rename *r, struct inode *target)
{
	struct inode *old_dir = parent_inode(&r->old_at), *new_dir = parent_inode(&r->new_at);
	int error;

	if (((r->old->flags | r->new->flags) & D_MOUNTED) &&
	    (is_mountpoint(r->old) || is_mountpoint(r->new)))
		return -EBUSY;
	error = old_dir->op->rename(old_dir, r->old, new_dir, r->new, r->flags);
	if (error)
		return error;
	if (target && S_ISDIR(target->mode)) {
		spin_lock(&target->spin);
		target->flags |= I_DEAD;
		spin_unlock(&target->spin);
		shrink_dcache_children(r->new);
	}
	if (r->flags & RENAME_EXCHANGE)
		d_exchange(r->old, r->new);
	else
		d_move(r->old, r->new);
	return 0;
}

/* The directories are locked and all is permitted. */
static int rename_do(const struct rename *r, struct inode **gone)
{
	struct inode *target = r->flags & RENAME_EXCHANGE ? NULL : r->new->inode;
	int error;

	if (!target)
		return rename_targeted(r, NULL);
	ihold(target);
	*gone = target;
	down_write_nested(&target->lock, LOCK_CHILD);
	error = rename_targeted(r, target);
	up_write(&target->lock);
	return error;
}

static int rename_locked(struct rename *r, struct inode **gone)
{
	int error;

	r->old = lookup_locked(r->old_at.parent.dentry, r->old_at.last.name, r->old_at.last.length);
	if (IS_ERR(r->old))
		return (int)PTR_ERR(r->old);
	r->new = lookup_locked(r->new_at.parent.dentry, r->new_at.last.name, r->new_at.last.length);
	if (IS_ERR(r->new)) {
		error = r->old->inode ? (int)PTR_ERR(r->new) : -ENOENT;
		dput(r->old);
		return error;
	}
	error = rename_types(r);
	if (!error && r->old->inode != r->new->inode) { /* two names of one file: nothing to do */
		error = rename_permission(r);
		if (!error)
			error = rename_do(r, gone);
	}
	dput(r->new);
	dput(r->old);
	return error;
}

static int rename_check_names(const struct rename *r)
{
	if (r->old_at.parent.mount != r->new_at.parent.mount)
		return -EXDEV;
	if (r->old_at.last.type != LAST_NORM)
		return -EBUSY;
	if (r->new_at.last.type != LAST_NORM)
		return r->flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	return mount_writable(r->old_at.parent.mount);
}

int vfs_rename_at(int old_dfd, const char __user *old_name, int new_dfd,
		  const char __user *new_name, unsigned flags)
{
	struct rename r; /* large: not cleared */
	struct inode *gone = NULL;
	int error;

	r.flags = flags;
	if ((flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE)) ||
	    (flags & (RENAME_NOREPLACE | RENAME_EXCHANGE)) == (RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	error = name_at_get(&r.old_at, old_dfd, old_name);
	if (error)
		return error;
	error = name_at_get(&r.new_at, new_dfd, new_name);
	if (error) {
		name_at_put(&r.old_at);
		return error;
	}
	error = rename_check_names(&r);
	if (!error) {
		lock_directories(&r);
		error = rename_locked(&r, &gone);
		unlock_directories(&r);
	}
	if (gone)
		iput(gone);
	name_at_put(&r.new_at);
	name_at_put(&r.old_at);
	return error;
}

/* ---- readlink -------------------------------------------------------------------------------- */

s64 vfs_readlink_at(int dfd, const char __user *name, char __user *buf, size_t size)
{
	struct path path;
	struct inode *inode;
	const char *text;
	void *cookie = NULL;
	s64 result;
	int error;

	if ((s64)size <= 0)
		return -EINVAL;
	error = user_path_at(dfd, name, LOOKUP_EMPTY, &path);
	if (error)
		return error;
	inode = path.dentry->inode;
	if (!S_ISLNK(inode->mode)) {
		char first = 0;

		path_put(&path);
		return get_user(first, name) || first ? -EINVAL : -ENOENT;
	}
	text = inode->link ? inode->link : inode->op->get_link(inode, &cookie);
	if (IS_ERR(text)) {
		result = PTR_ERR(text);
	} else {
		result = (s64)min(strlen(text), size);
		if (copy_to_user(buf, text, (size_t)result))
			result = -EFAULT;
		if (!inode->link && inode->op->put_link)
			inode->op->put_link(inode, cookie);
	}
	path_put(&path);
	return result;
}
