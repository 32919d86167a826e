/*
 * namei_ops.c - making, removing, linking and renaming names: the system calls of that kind.
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

/* ---- new names ------------------------------------------------------------------------------- */

/* What is to get a name. */
struct new_name {
	umode_t mode; /* with the type; 0: a link to @old */
	dev_t rdev;
	const char *target; /* of a symbolic link; slack behind it, as everywhere (vfs.h) */
	const struct path *old;
};

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
	int error = old->mount != parent->mount ? -EXDEV : may_link(inode);

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

/* The directory is locked and @dentry negative. */
static int make_locked(const struct path *parent, struct dentry *dentry, const struct new_name *new)
{
	struct inode *dir = parent->dentry->inode;
	const struct inode_operations *op = dir->op;
	umode_t mode = new->mode & ~current->fs->umask;
	int error;

	if (new->old)
		return link_locked(parent, dentry, new->old);
	error = may_create(dir, dentry);
	if (error)
		return error;
	if (S_ISDIR(mode))
		return op->mkdir ? op->mkdir(dir, dentry, mode) : -EPERM;
	if (S_ISLNK(mode))
		return op->symlink ? op->symlink(dir, dentry, new->target) : -EPERM;
	if (S_ISREG(mode))
		return op->create ? op->create(dir, dentry, mode) : -EACCES;
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && !capable(current->cred))
		return -EPERM;
	return op->mknod ? op->mknod(dir, dentry, mode, new->rdev) : -EPERM;
}

static int make_name(int dfd, const char *text, const struct new_name *new)
{
	struct path parent __free(path) = {0};
	struct last last;
	struct dentry *dentry;
	int error = path_lookup_parent(dfd, text, &parent, &last);

	if (error || last.type != LAST_NORM)
		return error ? error : -EEXIST;
	down_write_nested(&parent.dentry->inode->lock, LOCK_PARENT);
	dentry = lookup_locked(parent.dentry, last.name, last.length);
	if (IS_ERR(dentry)) {
		error = (int)PTR_ERR(dentry);
	} else {
		if (dentry->inode)
			error = -EEXIST;
		else if (last.trailing_slash && !S_ISDIR(new->mode))
			error = -ENOENT;
		else
			error = mount_writable(parent.mount);
		if (!error)
			error = make_locked(&parent, dentry, new);
		dput(dentry);
	}
	up_write(&parent.dentry->inode->lock);
	return error;
}

static s64 user_make(int dfd, const char __user *from, const struct new_name *new)
{
	struct path_name name __free(name);
	int error = path_name_get(&name, from);

	return error ? error : make_name(dfd, name.text, new);
}

s64 sys_mkdirat(int dfd, const char *name, umode_t mode)
{
	struct new_name new = {.mode = S_IFDIR | (mode & (S_IRWXUGO | S_ISVTX))};

	return user_make(dfd, name, &new);
}

s64 sys_mknodat(int dfd, const char *name, umode_t mode, u32 device)
{
	struct new_name new = {.mode = mode, .rdev = device};

	/* The ABI's number has the minor's upper bits at bit 20; ours are below 256. */
	if (device >> 20)
		return -EINVAL;
	switch (mode & S_IFMT) {
	case 0:
		new.mode |= S_IFREG;
		break;
	case S_IFREG:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		break;
	default:
		return S_ISDIR(mode) ? -EPERM : -EINVAL;
	}
	return user_make(dfd, name, &new);
}

s64 sys_symlinkat(const char *target, int dfd, const char *name)
{
	struct path_name text __free(name);
	int error = path_name_get(&text, target);
	struct new_name new = {.mode = S_IFLNK | 0777, .target = text.text};

	if (error)
		return error;
	return *text.text ? user_make(dfd, name, &new) : -ENOENT;
}

s64 sys_linkat(int old_dfd, const char *old_name, int new_dfd, const char *name, int flags)
{
	struct path old __free(path) = {0};
	struct new_name new = {.old = &old};
	unsigned lookup = (flags & AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0) |
			  (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);
	s64 error;

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if ((flags & AT_EMPTY_PATH) && !capable(current->cred))
		return -ENOENT;
	error = user_path_at(old_dfd, old_name, lookup, &old);
	return error ? error : user_make(new_dfd, name, &new);
}

static int kern_make_new(const char *from, const struct new_name *new)
{
	struct path_name name __free(name);
	int error = path_name_copy(&name, from);

	return error ? error : make_name(AT_FDCWD, name.text, new);
}

int kern_make(const char *name, umode_t mode, dev_t rdev, const char *target)
{
	struct path_name text __free(name);
	int error = path_name_copy(&text, target);
	struct new_name new = {.mode = mode, .rdev = rdev, .target = text.text};

	return error ? error : kern_make_new(name, &new);
}

int kern_link(const char *old_name, const char *name)
{
	struct path old __free(path) = {0};
	struct new_name new = {.old = &old};
	int error = kern_path(old_name, 0, &old);

	return error ? error : kern_make_new(name, &new);
}

/* ---- one name that is there ------------------------------------------------------------------ */

/* One name in one directory, as the calls below hold it. */
struct name_at {
	struct path_name text;
	struct path parent; /* referenced */
	struct last last;
};

/* To be undone on failure as well. */
static int name_at_get(struct name_at *at, int dfd, const char __user *name)
{
	int error = path_name_get(&at->text, name);

	at->parent.mount = NULL;
	return error ? error : path_lookup_parent(dfd, at->text.text, &at->parent, &at->last);
}

static void name_at_put(struct name_at *at)
{
	if (at->parent.mount)
		path_put(&at->parent);
	path_name_put(&at->text);
}

DEFINE_FREE(name_at, struct name_at, name_at_put(variable))

static struct inode *parent_inode(const struct name_at *at)
{
	return at->parent.dentry->inode;
}

/* Directory @inode has lost its name. */
static void mark_dead(struct inode *inode)
{
	spin_lock(&inode->spin);
	inode->flags |= I_DEAD;
	spin_unlock(&inode->spin);
}

static bool is_mounted_on(const struct dentry *dentry)
{
	return unlikely(dentry->flags & D_MOUNTED) && is_mountpoint(dentry);
}

/* *@gone: a reference to the inode that lost its name, to be let go once the directory is unlocked,
 * since freeing its blocks may take long. */
static int remove_locked(struct name_at *at, struct dentry *dentry, bool directory,
			 struct inode **gone)
{
	struct inode *dir = parent_inode(at), *inode = dentry->inode;
	int (*remove)(struct inode *, struct dentry *) =
		directory ? dir->op->rmdir : dir->op->unlink;
	int error;

	if (!inode)
		return -ENOENT;
	if (at->last.trailing_slash && !directory)
		return S_ISDIR(inode->mode) ? -EISDIR : -ENOTDIR;
	error = may_delete(dir, dentry, directory);
	if (error)
		return error;
	if (!remove)
		return -EPERM;
	ihold(inode);
	*gone = inode;
	down_write_nested(&inode->lock, LOCK_CHILD);
	error = is_mounted_on(dentry) ? -EBUSY : remove(dir, dentry);
	if (!error && directory)
		mark_dead(inode);
	up_write(&inode->lock);
	if (error)
		return error;
	if (directory)
		shrink_dcache_children(dentry);
	d_delete(dentry);
	return 0;
}

static int remove_name(struct name_at *at, bool directory, struct inode **gone)
{
	struct dentry *dentry = lookup_locked(at->parent.dentry, at->last.name, at->last.length);
	int error;

	if (IS_ERR(dentry))
		return (int)PTR_ERR(dentry);
	error = remove_locked(at, dentry, directory, gone);
	dput(dentry);
	return error;
}

s64 sys_unlinkat(int dfd, const char *name, int flags)
{
	static const int wrong[] = {
		[LAST_ROOT] = -EBUSY, [LAST_DOT] = -EINVAL, [LAST_DOTDOT] = -ENOTEMPTY};
	bool directory = flags & AT_REMOVEDIR;
	struct name_at at __free(name_at);
	struct inode *gone __free(iput) = NULL;
	int error = name_at_get(&at, dfd, name);

	if (flags & ~AT_REMOVEDIR)
		return -EINVAL;
	if (!error && at.last.type != LAST_NORM)
		error = directory ? wrong[at.last.type] : -EISDIR;
	if (!error)
		error = mount_writable(at.parent.mount);
	if (error)
		return error;
	down_write_nested(&parent_inode(&at)->lock, LOCK_PARENT);
	error = remove_name(&at, directory, &gone);
	up_write(&parent_inode(&at)->lock);
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
static int rename_permission(const struct rename *r)
{
	struct inode *old_dir = parent_inode(&r->old_at), *new_dir = parent_inode(&r->new_at);
	struct inode *source = r->old->inode, *target = r->new->inode;
	bool exchange = r->flags & RENAME_EXCHANGE, directory;
	int error;

	if (!source || (exchange && !target))
		return -ENOENT;
	if ((r->flags & RENAME_NOREPLACE) && target)
		return -EEXIST;
	directory = S_ISDIR(source->mode);
	if (exchange && !S_ISDIR(target->mode) && r->new_at.last.trailing_slash)
		return -ENOTDIR;
	if (!directory &&
	    (r->old_at.last.trailing_slash || (!exchange && r->new_at.last.trailing_slash)))
		return -ENOTDIR;
	if (r->old == r->ancestor)
		return -EINVAL;
	if (r->new == r->ancestor)
		return exchange ? -EINVAL : -ENOTEMPTY;
	if (source == target) /* two names of one file: nothing to do */
		return 0;
	error = may_delete(old_dir, r->old, directory);
	if (!error)
		error = target ? may_delete(new_dir, r->new,
					    exchange ? S_ISDIR(target->mode) : directory)
			       : may_create(new_dir, r->new);
	if (error || !old_dir->op->rename)
		return error ? error : -EPERM;
	if (old_dir != new_dir && directory) /* its ".." changes */
		error = inode_permission(source, MAY_WRITE);
	if (!error && old_dir != new_dir && exchange && S_ISDIR(target->mode))
		error = inode_permission(target, MAY_WRITE);
	return error;
}

/* The directories are locked and all is permitted. *@gone: the file that was replaced. */
static int rename_do(const struct rename *r, struct inode **gone)
{
	struct inode *old_dir = parent_inode(&r->old_at), *new_dir = parent_inode(&r->new_at);
	struct inode *target = r->flags & RENAME_EXCHANGE ? NULL : r->new->inode;
	int error = -EBUSY;

	if (target) {
		ihold(target);
		*gone = target;
		down_write_nested(&target->lock, LOCK_CHILD);
	}
	if (!is_mounted_on(r->old) && !is_mounted_on(r->new))
		error = old_dir->op->rename(old_dir, r->old, new_dir, r->new, r->flags);
	if (!error && target && S_ISDIR(target->mode)) {
		mark_dead(target);
		shrink_dcache_children(r->new);
	}
	if (!error && (r->flags & RENAME_EXCHANGE))
		d_exchange(r->old, r->new);
	else if (!error)
		d_move(r->old, r->new);
	if (target)
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
	} else {
		error = rename_permission(r);
		if (!error && r->old->inode != r->new->inode)
			error = rename_do(r, gone);
		dput(r->new);
	}
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

s64 sys_renameat2(int old_dfd, const char *old, int new_dfd, const char *new, u32 flags)
{
	struct rename r; /* large: not cleared */
	struct inode *gone = NULL;
	int error;

	r.flags = flags;
	if ((flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE)) ||
	    flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	r.new_at.parent.mount = NULL;
	r.new_at.text.allocated = NULL;
	error = name_at_get(&r.old_at, old_dfd, old);
	if (!error)
		error = name_at_get(&r.new_at, new_dfd, new);
	if (!error)
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

s64 sys_readlinkat(int dfd, const char *name, char *buffer, int size)
{
	struct path path __free(path) = {0};
	struct inode *inode;
	const char *text;
	void *cookie = NULL;
	char first = 0;
	s64 result = size <= 0 ? -EINVAL : user_path_at(dfd, name, LOOKUP_EMPTY, &path);

	if (result)
		return result;
	inode = path.dentry->inode;
	if (!S_ISLNK(inode->mode))
		return get_user(first, name) || first ? -EINVAL : -ENOENT;
	text = inode->link ? inode->link : inode->op->get_link(inode, &cookie);
	if (IS_ERR(text))
		return PTR_ERR(text);
	touch_inode_atime(inode, path.mount);
	result = (s64)min(strlen(text), (size_t)size);
	if (copy_to_user(buffer, text, (size_t)result))
		result = -EFAULT;
	if (!inode->link && inode->op->put_link)
		inode->op->put_link(inode, cookie);
	return result;
}
