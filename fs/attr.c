/*
 * attr.c - who may do what to an inode, and reading and changing its attributes.
 *
 * Permission is decided by current's fsuid, fsgid and groups against the inode's owner, group and
 * mode; fsuid 0 may do everything but execute a file that nobody may execute. The functions that
 * change attributes check as Linux does and in its order, since the order decides which errno a
 * program sees.
 */
#include "fs/internal.h"
#include "kernel/core/jobctl.h"

/* ---- permission ------------------------------------------------------------------------------ */

/* Writing to it does not change a file system. */
static bool is_special(const struct inode *inode)
{
	return !S_ISREG(inode->mode) && !S_ISDIR(inode->mode) && !S_ISLNK(inode->mode);
}

int inode_permission(struct inode *inode, int mask)
{
	const struct cred *cred = current->cred;
	umode_t mode = inode->mode, bits;

	if (unlikely(mask & MAY_WRITE) && (inode->sb->flags & SB_RDONLY) && !is_special(inode))
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

static __always_inline void generic_fillattr(const struct inode *inode, struct kstat *stat)
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

static __always_inline int fill_stat(const struct path *path, struct kstat *stat)
{
	struct inode *inode = path->dentry->inode;

	generic_fillattr(inode, stat);
	return unlikely(inode->op->getattr != NULL) ? inode->op->getattr(inode, stat) : 0;
}

static __always_inline s64 stat_path(const struct path *path, void __user *to)
{
	struct kstat stat;
	int error = fill_stat(path, &stat);

	if (unlikely(error))
		return error;
	return unlikely(copy_to_user(to, &stat, sizeof(stat))) ? -EFAULT : 0;
}

s64 sys_fstat(int number, void *to)
{
	struct fd fd __free(fd) = fdget_raw(number);

	return likely(fd.file != NULL) ? stat_path(&fd.file->path, to) : -EBADF;
}

s64 sys_newfstatat(int dfd, const char *name, void *to, int flags)
{
	struct path path;
	char first;
	s64 result;

	if (unlikely(flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH)))
		return -EINVAL;
	/* fstat() of current C libraries: fstatat(fd, "", AT_EMPTY_PATH) */
	if ((flags & AT_EMPTY_PATH) && dfd >= 0 && !get_user(first, name) && !first)
		return sys_fstat(dfd, to);
	result = user_path_at(dfd, name, at_lookup(flags), &path);
	if (unlikely(result))
		return result;
	result = stat_path(&path, to);
	path_put(&path);
	return result;
}

#define STATX_BASIC_STATS 0x7ff
#define STATX_RESERVED 0x80000000u
#define AT_STATX_SYNC_TYPE 0x6000

struct statx_time {
	s64 sec;
	u32 nsec;
	s32 reserved;
};

struct statx {
	u32 mask, block_size;
	u64 attributes;
	u32 links, uid, gid;
	u16 mode, spare;
	u64 inode, size, blocks, attributes_mask;
	struct statx_time atime, btime, ctime, mtime;
	u32 rdev_major, rdev_minor, dev_major, dev_minor;
	u64 spare2[14];
};
_Static_assert(sizeof(struct statx) == 256, "struct statx of the ABI");

static struct statx_time statx_time(struct timespec64 time)
{
	return (struct statx_time){.sec = time.tv_sec, .nsec = (u32)time.tv_nsec};
}

s64 sys_statx(int dfd, const char *name, int flags, u32 mask, void *to)
{
	const int known =
		AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE;
	struct path path __free(path) = {0};
	struct kstat stat;
	struct statx out;
	s64 error;

	if ((mask & STATX_RESERVED) || (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE ||
	    (flags & ~known))
		return -EINVAL;
	error = user_path_at(dfd, name, at_lookup(flags), &path);
	if (!error)
		error = fill_stat(&path, &stat);
	if (error)
		return error;
	out = (struct statx){
		.mask = STATX_BASIC_STATS,
		.block_size = (u32)stat.blksize,
		.links = (u32)stat.nlink,
		.uid = stat.uid,
		.gid = stat.gid,
		.mode = (u16)stat.mode,
		.inode = stat.ino,
		.size = (u64)stat.size,
		.blocks = (u64)stat.blocks,
		.atime = statx_time(stat.atime),
		.ctime = statx_time(stat.ctime),
		.mtime = statx_time(stat.mtime),
		.rdev_major = MAJOR(stat.rdev),
		.rdev_minor = MINOR(stat.rdev),
		.dev_major = MAJOR(stat.dev),
		.dev_minor = MINOR(stat.dev),
	};
	return copy_to_user(to, &out, sizeof(out)) ? -EFAULT : 0;
}

static s64 statfs_at(int fd, const char __user *name, unsigned lookup, void __user *to)
{
	const unsigned told = SB_RDONLY | SB_NOSUID | SB_NODEV | SB_NOEXEC | SB_NOATIME;
	struct kstatfs stat = {.namelen = NAME_MAX};
	struct path path __free(path) = {0};
	struct super_block *sb;
	unsigned flags;
	s64 error = user_path_at(fd, name, lookup, &path);

	if (error)
		return error;
	sb = path.dentry->sb;
	flags = sb->flags | path.mount->flags;
	stat.bsize = stat.frsize = sb->block_size;
	stat.fsid[0] = (u32)sb->dev;
	stat.flags =
		ST_VALID | (flags & told) | (path.mount->flags & MS_RELATIME ? ST_RELATIME : 0);
	error = sb->op->statfs ? sb->op->statfs(sb, &stat) : -ENOSYS;
	return error ? error : copy_to_user(to, &stat, sizeof(stat)) ? -EFAULT : 0;
}

s64 sys_statfs(const char *name, void *stat)
{
	return statfs_at(AT_FDCWD, name, LOOKUP_FOLLOW, stat);
}

s64 sys_fstatfs(int fd, void *stat)
{
	return statfs_at(fd, NULL, LOOKUP_FD_PATH, stat);
}

/* ---- access ---------------------------------------------------------------------------------- */

static int access_at(int dfd, const char __user *name, int mode, int flags)
{
	struct path path __free(path) = {0};
	struct inode *inode;
	int error = user_path_at(dfd, name, at_lookup(flags), &path);

	if (error)
		return error;
	inode = path.dentry->inode;
	if ((mode & X_OK) && S_ISREG(inode->mode) && (path.mount->flags & SB_NOEXEC))
		return -EACCES;
	error = inode_permission(inode, mode);
	if (!error && (mode & W_OK) && (path.mount->flags & SB_RDONLY) && !is_special(inode))
		return -EROFS;
	return error;
}

/* As the real user, unless AT_EACCESS. */
s64 sys_faccessat2(int dfd, const char *name, int mode, int flags)
{
	const struct cred *saved = current->cred;
	struct cred *real;
	int error;

	if ((flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) ||
	    (mode & ~(R_OK | W_OK | X_OK)))
		return -EINVAL;
	if ((flags & AT_EACCESS) || (saved->fsuid == saved->uid && saved->fsgid == saved->gid))
		return access_at(dfd, name, mode, flags);
	real = prepare_cred();
	if (!real)
		return -ENOMEM;
	real->fsuid = real->uid;
	real->fsgid = real->gid;
	current->cred = real;
	error = access_at(dfd, name, mode, flags);
	current->cred = saved;
	put_cred(real);
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

umode_t mode_unprivileged(const struct inode *inode, umode_t mode)
{
	const struct cred *cred = current->cred;
	bool locking = !(mode & S_IXGRP) && (!cred->fsuid || in_group(cred, inode->gid));

	return mode & (locking ? ~(umode_t)S_ISUID : ~(umode_t)(S_ISUID | S_ISGID));
}

static void drop_privileges(const struct inode *inode, struct iattr *attr)
{
	umode_t mode = attr->valid & ATTR_MODE ? attr->mode : inode->mode;
	umode_t kept = mode_unprivileged(inode, mode);

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
	guard(write, &inode->lock);
	if (attr->valid & ATTR_KILL_PRIV && !S_ISDIR(inode->mode))
		drop_privileges(inode, attr); /* which takes the owner */
	attr->valid &= ~(u32)ATTR_KILL_PRIV;
	error = setattr_check(inode, attr);
	return error ? error : apply_attr(inode, attr);
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

/* ---- the calls that change attributes -------------------------------------------------------- */

static s64 set_attributes(int dfd, const char __user *name, unsigned lookup, struct iattr *attr)
{
	struct path path __free(path) = {0};
	s64 error = user_path_at(dfd, name, lookup, &path);

	return error ? error : vfs_setattr(&path, attr);
}

static s64 set_mode(int dfd, const char __user *name, unsigned lookup, umode_t mode)
{
	struct iattr attr = {.valid = ATTR_MODE, .mode = mode & S_IALLUGO};

	return set_attributes(dfd, name, lookup, &attr);
}

s64 sys_fchmodat(int dfd, const char *name, umode_t mode)
{
	return set_mode(dfd, name, LOOKUP_FOLLOW, mode);
}

s64 sys_fchmod(int fd, umode_t mode)
{
	return set_mode(fd, NULL, LOOKUP_FD, mode);
}

static s64 set_owner(int dfd, const char __user *name, unsigned lookup, uid_t uid, gid_t gid)
{
	struct iattr attr = {.uid = uid, .gid = gid};

	attr.valid = ATTR_KILL_PRIV; /* even if no owner changes */
	attr.valid |= (uid != (uid_t)-1 ? ATTR_UID : 0) | (gid != (gid_t)-1 ? ATTR_GID : 0);
	return set_attributes(dfd, name, lookup, &attr);
}

s64 sys_fchownat(int dfd, const char *name, uid_t uid, gid_t gid, int flags)
{
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return set_owner(dfd, name, at_lookup(flags), uid, gid);
}

s64 sys_fchown(int fd, uid_t uid, gid_t gid)
{
	return set_owner(fd, NULL, LOOKUP_FD, uid, gid);
}

/* One of the two times of utimensat(): its ATTR_* bits. Now, for one of them alone, is a time like
 * another: it takes the owner. */
static int take_time(struct timespec64 *time, u32 bits, u32 *valid)
{
	if (time->tv_nsec == UTIME_OMIT)
		return 0;
	if (time->tv_nsec == UTIME_NOW)
		*time = current_time();
	if ((u64)time->tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	*valid |= bits;
	return 0;
}

/* @times NULL: now. */
static s64 set_times(int dfd, const char __user *name, const struct timespec64 *times, int flags)
{
	struct iattr attr = {.valid = ATTR_TOUCH | ATTR_ATIME | ATTR_MTIME};
	bool by_descriptor = !name && dfd != AT_FDCWD; /* futimens() */

	if (times && !(times[0].tv_nsec == UTIME_NOW && times[1].tv_nsec == UTIME_NOW)) {
		attr = (struct iattr){.atime = times[0], .mtime = times[1]};
		if (take_time(&attr.atime, ATTR_ATIME | ATTR_ATIME_SET, &attr.valid) ||
		    take_time(&attr.mtime, ATTR_MTIME | ATTR_MTIME_SET, &attr.valid))
			return -EINVAL;
	}
	if (by_descriptor && flags)
		return -EINVAL;
	return set_attributes(dfd, name, by_descriptor ? LOOKUP_FD : at_lookup(flags), &attr);
}

s64 sys_utimensat(int dfd, const char *name, const void *user_times, int flags)
{
	struct timespec64 times[2];

	if (user_times && copy_from_user(times, user_times, sizeof(times)))
		return -EFAULT;
	if (user_times && times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT)
		return 0; /* whatever else is asked */
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return set_times(dfd, name, user_times ? times : NULL, flags);
}

/* Times in seconds and microseconds. */
s64 sys_futimesat(int dfd, const char *name, const s64 *user_times)
{
	struct timespec64 times[2];

	if (user_times && copy_from_user(times, user_times, sizeof(times)))
		return -EFAULT;
	for (int i = 0; user_times && i < 2; i++) {
		if ((u64)times[i].tv_nsec >= 1000000)
			return -EINVAL;
		times[i].tv_nsec *= 1000;
	}
	return set_times(dfd, name, user_times ? times : NULL, 0);
}

/* Times in seconds. */
s64 sys_utime(const char *name, const s64 *user_times)
{
	struct timespec64 times[2] = {{0}};

	if (user_times &&
	    (get_user(times[0].tv_sec, user_times) || get_user(times[1].tv_sec, user_times + 1)))
		return -EFAULT;
	return set_times(AT_FDCWD, name, user_times ? times : NULL, 0);
}

s64 sys_umask(u32 mask)
{
	u32 old = current->fs->umask;

	current->fs->umask = mask & S_IRWXUGO;
	return old;
}

/* ---- size ------------------------------------------------------------------------------------ */

/* Permission was checked. Changes the times only if @more_valid says so, or the size does change.
 */
int do_truncate(struct inode *inode, loff_t size, u32 more_valid)
{
	struct iattr attr = {.valid = ATTR_SIZE | ATTR_FORCE | more_valid, .size = size};
	int error = size > inode->size ? limit_growth(inode, size) : 0;

	if (error)
		return error;
	if (size > (loff_t)inode->sb->max_bytes)
		return -EFBIG;
	if (current->cred->fsuid != 0)
		attr.valid |= ATTR_KILL_PRIV;
	guard(write, &inode->lock);
	/* A file system in memory leaves the times as they are where the size stays. */
	if (size != inode->size || more_valid || inode->op->setattr)
		attr.valid |= ATTR_MTIME;
	return apply_attr(inode, &attr);
}

s64 sys_truncate(const char *name, loff_t size)
{
	struct path path __free(path) = {0};
	struct inode *inode;
	s64 error = size < 0 ? -EINVAL : user_path_at(AT_FDCWD, name, LOOKUP_FOLLOW, &path);

	if (error)
		return error;
	inode = path.dentry->inode;
	if (!S_ISREG(inode->mode))
		return S_ISDIR(inode->mode) ? -EISDIR : -EINVAL;
	error = mount_writable(path.mount);
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
	if (!S_ISREG(file->inode->mode) || !(file->mode & FMODE_WRITE))
		return -EINVAL;
	return do_truncate(file->inode, size, ATTR_MTIME);
}

s64 sys_ftruncate(int number, loff_t size)
{
	struct fd fd __free(fd) = fdget(number);

	if (size < 0)
		return -EINVAL;
	return fd.file ? vfs_ftruncate(fd.file, size) : -EBADF;
}

s64 sys_fallocate(int number, int mode, loff_t offset, loff_t length)
{
	struct fd fd __free(fd) = fdget(number);
	struct inode *inode;
	int error;

	if (!fd.file)
		return -EBADF;
	inode = fd.file->inode;
	if (offset < 0 || length <= 0)
		return -EINVAL;
	if (mode & FALLOC_FL_PUNCH_HOLE ? mode != (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)
					: mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_ZERO_RANGE))
		return -EOPNOTSUPP;
	if (!(fd.file->mode & FMODE_WRITE))
		return -EBADF;
	if (!S_ISREG(inode->mode))
		return S_ISFIFO(inode->mode) ? -ESPIPE : S_ISDIR(inode->mode) ? -EISDIR : -ENODEV;
	if (length > (loff_t)inode->sb->max_bytes - offset)
		return -EFBIG;
	if (!inode->op->fallocate || mode & FALLOC_FL_ZERO_RANGE)
		return -EOPNOTSUPP;
	error = mode ? 0 : limit_growth(inode, offset + length);
	if (error)
		return error;
	guard(write, &inode->lock);
	error = inode->op->fallocate(inode, mode, offset, length);
	if (!error && current->cred->fsuid)
		inode->mode = mode_unprivileged(inode, inode->mode);
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
void touch_inode_atime(struct inode *inode, const struct mount *mount)
{
	unsigned flags = inode->sb->flags | mount->flags;

	if ((flags & (SB_NOATIME | SB_RDONLY)) || ((flags & SB_NODIRATIME) && S_ISDIR(inode->mode)))
		return;
	if ((flags & MS_RELATIME) && later(&inode->atime, &inode->mtime) &&
	    later(&inode->atime, &inode->ctime) &&
	    realtime_ns() < (u64)(inode->atime.tv_sec + ATIME_SECONDS) * NSEC_PER_SEC)
		return;
	inode->atime = current_time();
	mark_inode_dirty(inode);
}

void touch_atime(struct file *file)
{
	if (!(file->flags & O_NOATIME))
		touch_inode_atime(file->inode, file->path.mount);
}

void file_update_time(struct inode *inode)
{
	inode->mtime = inode->ctime = current_time();
	mark_inode_dirty(inode);
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
