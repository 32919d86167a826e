/*
 * attr.c - who may do what to an inode, and reading and changing its attributes.
 *
 * Permission is decided by current's euid, egid and groups against the inode's owner, group and
 * mode; euid 0 may do everything but execute a file that nobody may execute. The functions that
 * change attributes check as Linux does and in its order, since the order decides which errno a
 * program sees.
 *
 * They change them under inode->lock. Who asks for permission, or for stat(2), reads them without,
 * as in Linux: it may see one of two changes in a row. That is not enough to give rights away:
 * cred_of_program() takes the lock.
 */
#include "fs/internal.h"

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
	if (cred->euid == 0)
		return !(mask & MAY_EXEC) || S_ISDIR(mode) || (mode & S_IXUGO) ? 0 : -EACCES;
	if (cred->euid == inode->uid)
		bits = mode >> 6;
	else if (in_group(cred, inode->gid))
		bits = mode >> 3;
	else
		bits = mode;
	return (mask & ~bits & (MAY_READ | MAY_WRITE | MAY_EXEC)) ? -EACCES : 0;
}

bool owner_or_root(const struct inode *inode)
{
	return current->cred->euid == 0 || current->cred->euid == inode->uid;
}

/* May a name be made in @dir? @dentry is what was found under it. */
int may_create(struct inode *dir, const struct dentry *dentry)
{
	if (dentry->inode)
		return -EEXIST;
	if (is_dead(dir))
		return -ENOENT;
	return inode_permission(dir, MAY_WRITE | MAY_EXEC);
}

/* May @dentry's name be removed from @dir, as a directory or as something else? */
int may_delete(struct inode *dir, const struct dentry *dentry, bool directory)
{
	const struct inode *inode = dentry->inode;

	if (!inode)
		return -ENOENT;
	TRY(inode_permission(dir, MAY_WRITE | MAY_EXEC));
	if ((dir->mode & S_ISVTX) && !owner_or_root(inode) && !owner_or_root(dir))
		return -EPERM;
	if (directory != S_ISDIR(inode->mode))
		return directory ? -ENOTDIR : -EISDIR;
	if (dentry->parent == dentry)
		return -EBUSY;
	return is_dead(dir) ? -ENOENT : 0;
}

void cred_of_program(struct cred *cred, const struct path *path)
{
	struct inode *inode = path->dentry->inode;

	if (!((path->mount->flags | path->mount->sb->flags) & SB_NOSUID)) {
		/* chown() takes the bits away first: not those of the old owner with the new one */
		guard(read, &inode->lock);
		if (inode->mode & S_ISUID)
			cred->euid = inode->uid;
		if ((inode->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
			cred->egid = inode->gid;
	}
	cred->suid = cred->euid;
	cred->sgid = cred->egid;
}

/* ---- AT_* flags ------------------------------------------------------------------------------ */

/* As LOOKUP_*; -EINVAL: there are others than these two and @more. */
static __always_inline int at_lookup(int flags, int more)
{
	if (unlikely(flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | more)))
		return -EINVAL;
	return (flags & LOOKUP_EMPTY) | (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW);
}

/* ---- stat ------------------------------------------------------------------------------------ */

static __always_inline s64 stat_inode(const struct inode *inode, void __user *to)
{
	const struct kstat stat = {
		.dev = inode->sb->dev,
		.ino = inode->number,
		.nlink = inode->nlink,
		.mode = inode->mode,
		.uid = inode->uid,
		.gid = inode->gid,
		.pad = 0,
		.rdev = inode->rdev,
		.size = READ_ONCE(inode->data.size),
		.blksize = inode->sb->block_size,
		.blocks = (s64)READ_ONCE(inode->blocks),
		.atime = inode->atime,
		.mtime = inode->mtime,
		.ctime = inode->ctime,
		.unused = {0, 0, 0}, /* all are named, so none is cleared first */
	};

	return unlikely(copy_to_user(to, &stat, sizeof(stat))) ? -EFAULT : 0;
}

s64 sys_fstat(int number, void *to)
{
	struct fd fd __free(fd) = TRY_FD(fdget_raw(number));

	return stat_inode(fd.file->inode, to);
}

s64 sys_newfstatat(int dfd, const char *name, void *to, int flags)
{
	struct path path;
	char first;

	int lookup = TRY(at_lookup(flags, AT_NO_AUTOMOUNT));
	/* fstat() of current C libraries: fstatat(fd, "", AT_EMPTY_PATH) */
	if ((flags & AT_EMPTY_PATH) && dfd >= 0 && !get_user(first, name) && !first)
		return sys_fstat(dfd, to);
	TRY(user_path_at(dfd, name, lookup, &path));
	s64 result = stat_inode(path.dentry->inode, to);
	path_put(&path);
	return result;
}

#define STATX_BASIC_STATS 0x7ff
#define STATX_RESERVED 0x80000000u
#define AT_STATX_SYNC_TYPE 0x6000

struct statx {
	u32 mask, block_size;
	u64 attributes;
	u32 links, uid, gid;
	u16 mode, spare;
	u64 inode, size, blocks, attributes_mask;
	struct timespec64 atime, btime, ctime, mtime; /* 32 bits of nanoseconds, 32 reserved */
	u32 rdev_major, rdev_minor, dev_major, dev_minor;
	u64 spare2[14];
};
_Static_assert(sizeof(struct statx) == 256, "struct statx of the ABI");

s64 sys_statx(int dfd, const char *name, int flags, u32 mask, void *to)
{
	struct path path __free(path) = {0};
	int lookup = TRY(at_lookup(flags, AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE));

	if ((mask & STATX_RESERVED) || (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE)
		return -EINVAL;
	TRY(user_path_at(dfd, name, lookup, &path));
	const struct inode *inode = path.dentry->inode;
	const struct statx out = {
		.mask = STATX_BASIC_STATS,
		.block_size = inode->sb->block_size,
		.links = inode->nlink,
		.uid = inode->uid,
		.gid = inode->gid,
		.mode = (u16)inode->mode,
		.inode = inode->number,
		.size = (u64)inode->data.size,
		.blocks = inode->blocks,
		.atime = inode->atime,
		.ctime = inode->ctime,
		.mtime = inode->mtime,
		.rdev_major = MAJOR(inode->rdev),
		.rdev_minor = MINOR(inode->rdev),
		.dev_major = MAJOR(inode->sb->dev),
		.dev_minor = MINOR(inode->sb->dev),
	};
	return write_user(to, &out, sizeof(out));
}

static s64 statfs_path(const struct path *path, void __user *to)
{
	const unsigned told = SB_RDONLY | SB_NOSUID | SB_NODEV | SB_NOEXEC | SB_NOATIME;
	struct super_block *sb = path->dentry->inode->sb;
	struct kstatfs stat = {
		.type = sb->type->magic,
		.namelen = NAME_MAX,
		.bsize = sb->block_size,
		.frsize = sb->block_size,
		.fsid = {(u32)sb->dev},
		.flags = ST_VALID | ((sb->flags | path->mount->flags) & told) |
			 (path->mount->flags & MS_RELATIME ? ST_RELATIME : 0),
	};

	if (sb->op->statfs)
		sb->op->statfs(sb, &stat);
	return write_user(to, &stat, sizeof(stat));
}

PATH_CALL(statfs, (const char *name, void *to), AT_FDCWD, name, LOOKUP_FOLLOW, statfs_path, to)
PATH_CALL(fstatfs, (int fd, void *to), fd, NULL, LOOKUP_FD_PATH, statfs_path, to)

/* ---- access ---------------------------------------------------------------------------------- */

static int access_at(int dfd, const char __user *name, int mode, int lookup)
{
	struct path path __free(path) = {0};

	TRY(user_path_at(dfd, name, lookup, &path));
	struct inode *inode = path.dentry->inode;
	if ((mode & X_OK) && S_ISREG(inode->mode) && (path.mount->flags & SB_NOEXEC))
		return -EACCES;
	TRY(inode_permission(inode, mode));
	return (mode & W_OK) && !is_special(inode) ? mount_writable(path.mount) : 0;
}

/* As the real user, unless AT_EACCESS. */
s64 sys_faccessat2(int dfd, const char *name, int mode, int flags)
{
	const struct cred *own = current->cred;
	int lookup = TRY(at_lookup(flags, AT_EACCESS));

	if (mode & ~(R_OK | W_OK | X_OK))
		return -EINVAL;
	if ((flags & AT_EACCESS) || (own->euid == own->uid && own->egid == own->gid))
		return access_at(dfd, name, mode, lookup);
	struct cred *real = TRY_PTR(prepare_cred());
	real->euid = real->uid;
	real->egid = real->gid;
	swap_cred(real);
	int error = access_at(dfd, name, mode, lookup);
	put_cred(swap_cred(own));
	return error;
}

/* ---- changing attributes --------------------------------------------------------------------- */

umode_t mode_unprivileged(const struct inode *inode, umode_t mode)
{
	const struct cred *cred = current->cred;
	bool locking = !(mode & S_IXGRP) && (!cred->euid || in_group(cred, inode->gid));

	return mode & (locking ? ~(umode_t)S_ISUID : ~(umode_t)(S_ISUID | S_ISGID));
}

/* inode->lock is held for writing. */
int inode_changed(struct inode *inode)
{
	inode->ctime = current_time();
	mark_inode_dirty(inode);
	return 0;
}

int vfs_chmod(const struct path *path, umode_t mode)
{
	struct inode *inode = path->dentry->inode;

	TRY(mount_writable(path->mount));
	guard(write, &inode->lock);
	if (!owner_or_root(inode) || (inode->sb->flags & SB_FIXED_OWNERS))
		return -EPERM;
	if (current->cred->euid != 0 && !in_group(current->cred, inode->gid))
		mode &= ~(umode_t)S_ISGID;
	inode->mode = (mode & S_IALLUGO) | (inode->mode & S_IFMT);
	return inode_changed(inode);
}

PATH_CALL(fchmodat, (int dfd, const char *name, umode_t mode), dfd, name, LOOKUP_FOLLOW, vfs_chmod,
	  mode)
PATH_CALL(fchmod, (int fd, umode_t mode), fd, NULL, LOOKUP_FD, vfs_chmod, mode)

int vfs_chown(const struct path *path, uid_t uid, gid_t gid)
{
	bool asked = uid != (uid_t)-1 || gid != (gid_t)-1;
	struct inode *inode = path->dentry->inode;
	const struct cred *cred = current->cred;

	TRY(mount_writable(path->mount));
	guard(write, &inode->lock);
	/* set-id bits go even if no owner changes, which takes the owner as well */
	umode_t mode = S_ISDIR(inode->mode) ? inode->mode : mode_unprivileged(inode, inode->mode);
	if ((asked || mode != inode->mode) &&
	    (!owner_or_root(inode) || (inode->sb->flags & SB_FIXED_OWNERS)))
		return -EPERM;
	if (uid == (uid_t)-1)
		uid = inode->uid;
	if (gid == (gid_t)-1)
		gid = inode->gid;
	if (cred->euid != 0 &&
	    (uid != inode->uid || (gid != inode->gid && !in_group(cred, gid))))
		return -EPERM;
	inode->mode = mode;
	inode->uid = uid;
	inode->gid = gid;
	return inode_changed(inode);
}

PATH_CALL(fchownat, (int dfd, const char *name, uid_t uid, gid_t gid, int flags), dfd, name,
	  TRY(at_lookup(flags, 0)), vfs_chown, uid, gid)
PATH_CALL(fchown, (int fd, uid_t uid, gid_t gid), fd, NULL, LOOKUP_FD, vfs_chown, uid, gid)

/*
 * The access and modification time at @from (NULL: now), in seconds and parts of @unit nanoseconds.
 * A time that is set, be it to now, takes the owner; both to now only the right to write.
 */
static s64 set_times(int dfd, const char __user *name, const void __user *from, s64 unit, int flags)
{
	bool by_descriptor = !name && dfd != AT_FDCWD; /* futimens() */
	struct path path __free(path) = {0};
	struct timespec64 times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

	TRY(from ? read_user(times, from, sizeof(times)) : 0);
	for (int i = 0; from && unit > 1 && i < 2; i++) {
		if ((u64)times[i].tv_nsec >= NSEC_PER_SEC / (u64)unit)
			return -EINVAL;
		times[i].tv_nsec *= unit;
	}
	if (times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT)
		return 0; /* whatever else is asked */
	int lookup = TRY(at_lookup(flags, 0));
	if (by_descriptor && flags)
		return -EINVAL;
	bool touch = times[0].tv_nsec == UTIME_NOW && times[1].tv_nsec == UTIME_NOW;
	const struct timespec64 now = current_time();
	for (int i = 0; i < 2; i++)
		if (times[i].tv_nsec == UTIME_NOW)
			times[i] = now;
		else if (times[i].tv_nsec != UTIME_OMIT && (u64)times[i].tv_nsec >= NSEC_PER_SEC)
			return -EINVAL;
	TRY(user_path_at(dfd, name, by_descriptor ? (int)LOOKUP_FD : lookup, &path));
	TRY(mount_writable(path.mount));
	struct inode *inode = path.dentry->inode;
	guard(write, &inode->lock);
	if (!owner_or_root(inode))
		TRY(touch ? inode_permission(inode, MAY_WRITE) : -EPERM);
	if (times[0].tv_nsec != UTIME_OMIT)
		inode->atime = times[0];
	if (times[1].tv_nsec != UTIME_OMIT)
		inode->mtime = times[1];
	return inode_changed(inode);
}

SYSCALL_IS(utimensat, (int dfd, const char *name, const void *times, int flags),
	   set_times(dfd, name, times, 1, flags))

/* Times in seconds and microseconds. */
SYSCALL_IS(futimesat, (int dfd, const char *name, const s64 *times),
	   set_times(dfd, name, times, 1000, 0))
SYSCALL_IS(umask, (u32 mask), xchg(&current->fs->umask, mask & S_IRWXUGO))

/* ---- size ------------------------------------------------------------------------------------ */

/* Permission was checked. Changes the times only if @touch says so, or the size does change. */
int do_truncate(struct inode *inode, loff_t size, bool touch)
{
	TRY(get_write_access(inode));
	down_write(&inode->lock);
	/* A file system in memory leaves the time as it is where the size stays. */
	touch = touch || size != inode->data.size || inode->sb->bdev;
	int error = size > inode->data.size ? limit_growth(inode, size) : 0;
	if (size > (loff_t)inode->sb->max_bytes)
		error = -EFBIG;
	if (!error && inode->op->truncate)
		error = inode->op->truncate(inode, size);
	if (!error) {
		if (current->cred->euid != 0)
			inode->mode = mode_unprivileged(inode, inode->mode);
		/* the times first: once it is dirty it may be written */
		if (touch)
			file_update_time(inode);
		else
			inode_changed(inode);
	}
	up_write(&inode->lock);
	put_write_access(inode);
	return error;
}

s64 sys_truncate(const char *name, loff_t size)
{
	struct path path __free(path) = {0};

	if (size < 0)
		return -EINVAL;
	TRY(user_path_at(AT_FDCWD, name, LOOKUP_FOLLOW, &path));
	struct inode *inode = path.dentry->inode;
	if (!S_ISREG(inode->mode))
		return S_ISDIR(inode->mode) ? -EISDIR : -EINVAL;
	TRY(mount_writable(path.mount));
	TRY(inode_permission(inode, MAY_WRITE));
	return do_truncate(inode, size, false);
}

s64 sys_ftruncate(int number, loff_t size)
{
	if (size < 0)
		return -EINVAL;
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	if (!S_ISREG(fd.file->inode->mode) || !(fd.file->mode & FMODE_WRITE))
		return -EINVAL;
	return do_truncate(fd.file->inode, size, true);
}

s64 sys_fallocate(int number, int mode, loff_t offset, loff_t length)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	int kind = mode & ~FALLOC_FL_KEEP_SIZE;

	if (offset < 0 || length <= 0)
		return -EINVAL;
	/* one kind at most; holes keep the size, what moves contents does not */
	if (kind & (kind - 1) || kind & ~0x7a || (kind == FALLOC_FL_PUNCH_HOLE && mode == kind) ||
	    (kind & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE) && mode != kind))
		return -EOPNOTSUPP;
	if (!(fd.file->mode & FMODE_WRITE))
		return -EBADF;
	struct inode *inode = fd.file->inode;
	if (!S_ISREG(inode->mode))
		return S_ISFIFO(inode->mode) ? -ESPIPE : S_ISDIR(inode->mode) ? -EISDIR : -ENODEV;
	if (length > (loff_t)inode->sb->max_bytes - offset)
		return -EFBIG;
	if (!inode->op->fallocate || mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE))
		return -EOPNOTSUPP;
	guard(write, &inode->lock);
	if (!(mode & FALLOC_FL_PUNCH_HOLE) && offset + length > inode->data.size)
		TRY(limit_growth(inode, offset + length));
	TRY(inode->op->fallocate(inode, mode, offset, length));
	if (current->cred->euid)
		inode->mode = mode_unprivileged(inode, inode->mode);
	return 0;
}

/* ---- times and ownership --------------------------------------------------------------------- */

struct timespec64 current_time(void)
{
	return ns_to_timespec64(realtime_ns());
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
	bool inherits = dir && (dir->mode & S_ISGID);

	inode->uid = current->cred->euid;
	inode->gid = inherits ? dir->gid : current->cred->egid;
	inode->mode = inherits && S_ISDIR(mode) ? mode | S_ISGID : mode;
}
