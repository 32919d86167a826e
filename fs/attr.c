/*
 * attr.c - who may do what to an inode, and reading and changing its attributes.
 *
 * Permission is decided by current's fsuid, fsgid and groups against the inode's owner, group and
 * mode; fsuid 0 may do everything but execute a file that nobody may execute. The functions that
 * change attributes check as Linux does and in its order, since the order decides which errno a
 * program sees.
 */
#include "fs/internal.h"
#include "kernel/core/string.h"

/* Linux's sysctl fs.protected_hardlinks is on: see vfs_link_at(). */

/* ---- permission ------------------------------------------------------------------------------ */

int inode_permission(struct inode *inode, int mask)
{
	const struct cred *cred = current->cred;
	umode_t mode = inode->mode, bits;

	if (unlikely(mask & MAY_WRITE) && (inode->sb->flags & SB_RDONLY) &&
	    (S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode)))
		return -EROFS;
	if (cred->fsuid == 0)
		return !(mask & MAY_EXEC) || S_ISDIR(mode) || (mode & S_IXUGO) ? 0 : -EACCES;
	if (cred->fsuid == inode->uid)
		bits = mode >> 6;
	else if (in_group(cred, inode->gid))
		bits = mode >> 3;
	else
		bits = mode;
	return (mask & ~bits & (MAY_READ | MAY_WRITE | MAY_EXEC)) ? -EACCES : 0;
}

bool owner_or_root(const struct inode *inode)
{
	return current->cred->fsuid == 0 || current->cred->fsuid == inode->uid;
}

/* May a name be made in @dir? @dentry is what was found under it. */
int may_create(struct inode *dir, const struct dentry *dentry)
{
	if (dentry->inode)
		return -EEXIST;
	if (dir->flags & I_DEAD)
		return -ENOENT;
	return inode_permission(dir, MAY_WRITE | MAY_EXEC);
}

/* May @dentry's name be removed from @dir, as a directory or as something else? */
int may_delete(struct inode *dir, const struct dentry *dentry, bool directory)
{
	struct inode *inode = dentry->inode;
	int error;

	if (!inode)
		return -ENOENT;
	error = inode_permission(dir, MAY_WRITE | MAY_EXEC);
	if (error)
		return error;
	if ((dir->mode & S_ISVTX) && !owner_or_root(inode) && !owner_or_root(dir))
		return -EPERM;
	if (directory) {
		if (!S_ISDIR(inode->mode))
			return -ENOTDIR;
		if (dentry->parent == dentry)
			return -EBUSY;
	} else if (S_ISDIR(inode->mode)) {
		return -EISDIR;
	}
	return dir->flags & I_DEAD ? -ENOENT : 0;
}

/* ---- stat ------------------------------------------------------------------------------------ */

void generic_fillattr(struct inode *inode, struct kstat *stat)
{
	stat->dev = ABI_DEV(inode->sb->dev);
	stat->ino = inode->number;
	stat->nlink = inode->nlink;
	stat->mode = inode->mode;
	stat->uid = inode->uid;
	stat->gid = inode->gid;
	stat->pad = 0;
	stat->rdev = ABI_DEV(inode->rdev);
	stat->size = READ_ONCE(inode->size);
	stat->blksize = inode->sb->block_size;
	stat->blocks = (s64)inode->blocks;
	stat->atime = inode->atime;
	stat->mtime = inode->mtime;
	stat->ctime = inode->ctime;
	stat->unused[0] = stat->unused[1] = stat->unused[2] = 0;
}

int vfs_getattr(const struct path *path, struct kstat *stat)
{
	struct inode *inode = path->dentry->inode;

	generic_fillattr(inode, stat);
	return unlikely(inode->op->getattr != NULL) ? inode->op->getattr(inode, stat) : 0;
}

int vfs_stat_at(int dfd, const char __user *from, unsigned at_flags, struct kstat *stat)
{
	struct path_name name;
	struct path path;
	unsigned flags = LOOKUP_FOLLOW;
	int error;

	if (unlikely(at_flags != 0)) {
		if (at_flags & ~(unsigned)(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH))
			return -EINVAL;
		if (at_flags & AT_SYMLINK_NOFOLLOW)
			flags = 0;
		if (at_flags & AT_EMPTY_PATH)
			flags |= LOOKUP_EMPTY;
	}
	error = path_name_get(&name, from);
	if (unlikely(error))
		return error;
	error = path_lookup(dfd, name.text, flags, &path);
	path_name_put(&name);
	if (unlikely(error))
		return error;
	error = vfs_getattr(&path, stat);
	path_put(&path);
	return error;
}

int vfs_statfs(const struct path *path, struct kstatfs *stat)
{
	struct super_block *sb = path->dentry->sb;
	int error;

	memset(stat, 0, sizeof(*stat));
	stat->namelen = NAME_MAX;
	stat->bsize = stat->frsize = sb->block_size;
	stat->fsid[0] = (u32)sb->dev;
	error = sb->op->statfs ? sb->op->statfs(sb, stat) : -ENOSYS;
	stat->flags = ST_VALID | ((sb->flags | path->mount->flags) &
				  (SB_RDONLY | SB_NOSUID | SB_NODEV | SB_NOEXEC | SB_NOATIME));
	if (!((sb->flags | path->mount->flags) & SB_NOATIME))
		stat->flags |= ST_RELATIME;
	return error;
}

int vfs_access_at(int dfd, const char __user *name, int mode, int at_flags)
{
	const struct cred *saved = NULL;
	struct cred *real;
	struct path path;
	int error;

	if (mode & ~(R_OK | W_OK | X_OK))
		return -EINVAL;
	if (at_flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (!(at_flags & AT_EACCESS) && (current->cred->fsuid != current->cred->uid ||
					 current->cred->fsgid != current->cred->gid)) {
		real = prepare_cred();
		if (!real)
			return -ENOMEM;
		real->fsuid = real->uid;
		real->fsgid = real->gid;
		saved = current->cred;
		current->cred = real;
	}
	error = user_path_at(dfd, name,
			     (at_flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
				     (at_flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0),
			     &path);
	if (!error) {
		struct inode *inode = path.dentry->inode;

		if ((mode & X_OK) && S_ISREG(inode->mode) && (path.mount->flags & SB_NOEXEC))
			error = -EACCES;
		else
			error = inode_permission(inode, mode);
		if (!error && (mode & W_OK) && (path.mount->flags & SB_RDONLY) &&
		    !S_ISCHR(inode->mode) && !S_ISBLK(inode->mode) && !S_ISFIFO(inode->mode))
			error = -EROFS;
		path_put(&path);
	}
	if (saved) {
		put_cred(current->cred);
		current->cred = saved;
	}
	return error;
}

/* ---- changing attributes --------------------------------------------------------------------- */

/* Is the change allowed? EPERM where only the owner may. */
static int setattr_check(struct inode *inode, struct iattr *attr)
{
	const struct cred *cred = current->cred;
	bool root = cred->fsuid == 0;

	if (attr->valid & ATTR_FORCE)
		return 0;
	if ((attr->valid & ATTR_UID) && !root &&
	    (cred->fsuid != inode->uid || attr->uid != inode->uid))
		return -EPERM;
	if ((attr->valid & ATTR_GID) && !root &&
	    (cred->fsuid != inode->uid || (attr->gid != inode->gid && !in_group(cred, attr->gid))))
		return -EPERM;
	if (attr->valid & ATTR_MODE) {
		gid_t gid = attr->valid & ATTR_GID ? attr->gid : inode->gid;

		if (!owner_or_root(inode))
			return -EPERM;
		if (!root && !in_group(cred, gid))
			attr->mode &= ~(umode_t)S_ISGID;
	}
	if ((attr->valid & (ATTR_ATIME_SET | ATTR_MTIME_SET)) && !owner_or_root(inode))
		return -EPERM;
	if ((attr->valid & ATTR_TOUCH) && !owner_or_root(inode))
		return inode_permission(inode, MAY_WRITE);
	return 0;
}

/* Set-user-id goes when the owner or the contents change; set-group-id too, unless it means
 * locking. */
static void drop_privileges(const struct inode *inode, struct iattr *attr)
{
	umode_t mode = attr->valid & ATTR_MODE ? attr->mode : inode->mode;
	umode_t kept = mode & ~(umode_t)S_ISUID;

	if ((mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		kept &= ~(umode_t)S_ISGID;
	if (kept == mode)
		return;
	attr->valid |= ATTR_MODE;
	attr->mode = kept;
}

/* inode->lock held for writing; permission was checked. */
static int apply_attr(struct inode *inode, struct iattr *attr)
{
	struct timespec64 now = current_time();

	if (attr->valid & ATTR_KILL_PRIV)
		drop_privileges(inode, attr);
	attr->ctime = now;
	if (!(attr->valid & ATTR_ATIME_SET))
		attr->atime = now;
	if (!(attr->valid & ATTR_MTIME_SET))
		attr->mtime = now;
	attr->valid |= ATTR_CTIME;
	if (attr->valid & ATTR_MODE)
		attr->mode = (attr->mode & S_IALLUGO) | (inode->mode & S_IFMT);
	return inode->op->setattr ? inode->op->setattr(inode, attr) : simple_setattr(inode, attr);
}

int vfs_setattr(const struct path *path, struct iattr *attr)
{
	struct inode *inode = path->dentry->inode;
	int error = mount_writable(path->mount);

	if (error)
		return error;
	down_write(&inode->lock);
	if ((attr->valid & (ATTR_UID | ATTR_GID)) && !S_ISDIR(inode->mode))
		attr->valid |= ATTR_KILL_PRIV;
	error = setattr_check(inode, attr);
	if (!error)
		error = apply_attr(inode, attr);
	up_write(&inode->lock);
	return error;
}

/* For memory file systems, and the generic part of others: copy the values. */
int simple_setattr(struct inode *inode, const struct iattr *attr)
{
	if (attr->valid & ATTR_SIZE) {
		loff_t old = inode->size;

		WRITE_ONCE(inode->size, attr->size);
		if (attr->size < old)
			truncate_inode_pages(&inode->data, attr->size);
	}
	if (attr->valid & ATTR_UID)
		inode->uid = attr->uid;
	if (attr->valid & ATTR_GID)
		inode->gid = attr->gid;
	if (attr->valid & ATTR_MODE)
		inode->mode = attr->mode;
	if (attr->valid & ATTR_ATIME)
		inode->atime = attr->atime;
	if (attr->valid & ATTR_MTIME)
		inode->mtime = attr->mtime;
	if (attr->valid & ATTR_CTIME)
		inode->ctime = attr->ctime;
	mark_inode_dirty(inode);
	return 0;
}

/* ---- truncate -------------------------------------------------------------------------------- */

/* Permission was checked. Changes the times only if @more_valid says so, or the size does change.
 */
int do_truncate(struct inode *inode, loff_t size, u32 more_valid)
{
	struct iattr attr = {.valid = ATTR_SIZE | ATTR_MTIME | ATTR_FORCE | more_valid,
			     .size = size};
	int error;

	if (size > (loff_t)inode->sb->max_bytes)
		return -EFBIG;
	if (current->cred->fsuid != 0)
		attr.valid |= ATTR_KILL_PRIV;
	down_write(&inode->lock);
	error = apply_attr(inode, &attr);
	up_write(&inode->lock);
	return error;
}

int vfs_truncate(const struct path *path, loff_t size)
{
	struct inode *inode = path->dentry->inode;
	int error;

	if (size < 0)
		return -EINVAL;
	if (S_ISDIR(inode->mode))
		return -EISDIR;
	if (!S_ISREG(inode->mode))
		return -EINVAL;
	error = mount_writable(path->mount);
	if (!error)
		error = inode_permission(inode, MAY_WRITE);
	if (!error)
		error = get_write_access(inode);
	if (error)
		return error;
	error = do_truncate(inode, size, 0);
	put_write_access(inode);
	return error;
}

int vfs_ftruncate(struct file *file, loff_t size)
{
	if (size < 0 || !S_ISREG(file->inode->mode) || !(file->mode & FMODE_WRITE))
		return -EINVAL;
	return do_truncate(file->inode, size, 0);
}

int vfs_fallocate(struct file *file, int mode, loff_t offset, loff_t length)
{
	struct inode *inode = file->inode;
	int error;

	if (offset < 0 || length <= 0)
		return -EINVAL;
	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE))
		return -EOPNOTSUPP;
	if (!(file->mode & FMODE_WRITE))
		return -EBADF;
	if (S_ISFIFO(inode->mode))
		return -ESPIPE;
	if (S_ISDIR(inode->mode))
		return -EISDIR;
	if (!S_ISREG(inode->mode))
		return -ENODEV;
	if (length > (loff_t)inode->sb->max_bytes - offset)
		return -EFBIG;
	if (!inode->op->fallocate)
		return -EOPNOTSUPP;
	down_write(&inode->lock);
	error = inode->op->fallocate(inode, mode, offset, length);
	up_write(&inode->lock);
	return error;
}

/* ---- times and ownership --------------------------------------------------------------------- */

struct timespec64 current_time(void)
{
	return realtime_timespec64();
}

#define ATIME_SECONDS (24 * 3600) /* an access time older than this is renewed */

static __always_inline bool later(const struct timespec64 *a, const struct timespec64 *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

/* relatime: only when the last read is older than the last change, or than a day. */
void touch_atime(struct file *file)
{
	struct inode *inode = file->inode;

	if ((inode->sb->flags | file->path.mount->flags) & (SB_NOATIME | SB_RDONLY) ||
	    (file->flags & O_NOATIME))
		return;
	if (S_ISDIR(inode->mode) && ((inode->sb->flags | file->path.mount->flags) & SB_NODIRATIME))
		return;
	if (later(&inode->atime, &inode->mtime) && later(&inode->atime, &inode->ctime) &&
	    realtime_ns() < (u64)(inode->atime.tv_sec + ATIME_SECONDS) * NSEC_PER_SEC)
		return;
	inode->atime = current_time();
	mark_inode_dirty(inode);
}

int file_update_time(struct inode *inode)
{
	inode->mtime = inode->ctime = current_time();
	mark_inode_dirty(inode);
	return 0;
}

void inode_init_owner(struct inode *inode, const struct inode *dir, umode_t mode)
{
	const struct cred *cred = current->cred;

	inode->uid = cred->fsuid;
	inode->gid = cred->fsgid;
	if (dir && (dir->mode & S_ISGID)) {
		inode->gid = dir->gid;
		if (S_ISDIR(mode))
			mode |= S_ISGID;
		else if ((mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && cred->fsuid != 0 &&
			 !in_group(cred, dir->gid))
			mode &= ~(umode_t)S_ISGID;
	}
	inode->mode = mode;
}
