/*
 * attributes.c - the calls that ask for permission and that change a file's mode, owner, times and
 * size.
 */
#include "fs/calls/calls.h"
#include "fs/inode/attributes.h"

/* ---- access ---------------------------------------------------------------------------------- */

static int access_at(int dfd, const char __user *name, int mode, int lookup)
{
	struct path path __free(path) = {0};

	TRY(user_path_at(dfd, name, lookup, &path));
	struct inode *inode = path.dentry->inode;
	if ((mode & X_OK) && S_ISREG(inode->mode) && (path.mount->flags & SB_NOEXEC))
		return -EACCES;
	TRY(inode_permission(inode, mode));
	if ((mode & W_OK) && !is_special(inode))
		return mount_writable(path.mount);
	return 0;
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

/* ---- mode and owner -------------------------------------------------------------------------- */

static s64 change_mode(int dfd, const char __user *name, unsigned lookup, umode_t mode)
{
	struct path path __free(path) = {0};

	TRY(user_path_at(dfd, name, lookup, &path));
	return vfs_chmod(&path, mode);
}

s64 sys_fchmodat(int dfd, const char *name, umode_t mode)
{
	return change_mode(dfd, name, LOOKUP_FOLLOW, mode);
}

s64 sys_fchmod(int fd, umode_t mode)
{
	return change_mode(fd, NULL, LOOKUP_FD, mode);
}

static s64 change_owner(int dfd, const char __user *name, unsigned lookup, uid_t uid, gid_t gid)
{
	struct path path __free(path) = {0};

	TRY(user_path_at(dfd, name, lookup, &path));
	return vfs_chown(&path, uid, gid);
}

s64 sys_fchownat(int dfd, const char *name, uid_t uid, gid_t gid, int flags)
{
	int lookup = TRY(at_lookup(flags, 0));

	return change_owner(dfd, name, (unsigned)lookup, uid, gid);
}

s64 sys_fchown(int fd, uid_t uid, gid_t gid)
{
	return change_owner(fd, NULL, LOOKUP_FD, uid, gid);
}

s64 sys_umask(u32 mask)
{
	return xchg(&current->fs->umask, mask & S_IRWXUGO);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* UTIME_NOW becomes @now: 0, or -EINVAL if one of the two is no time. */
static int settle_times(struct timespec64 times[2], struct timespec64 now)
{
	for (int i = 0; i < 2; i++) {
		if (times[i].tv_nsec == UTIME_NOW)
			times[i] = now;
		else if (times[i].tv_nsec != UTIME_OMIT && (u64)times[i].tv_nsec >= NSEC_PER_SEC)
			return -EINVAL;
	}
	return 0;
}

s64 change_times(int dfd, const char __user *name, const struct timespec64 *given, int flags)
{
	bool by_descriptor = !name && dfd != AT_FDCWD; /* futimens() */
	struct path path __free(path) = {0};
	struct timespec64 times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

	if (given)
		memcpy(times, given, sizeof(times));
	if (times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT)
		return 0; /* whatever else is asked */
	int lookup = TRY(at_lookup(flags, 0));
	if (by_descriptor) {
		if (flags)
			return -EINVAL;
		lookup = LOOKUP_FD;
	}
	bool both_now = times[0].tv_nsec == UTIME_NOW && times[1].tv_nsec == UTIME_NOW;
	TRY(settle_times(times, current_time()));
	TRY(user_path_at(dfd, name, (unsigned)lookup, &path));
	return set_times(&path, times, both_now ? BOTH_NOW : TIMES_GIVEN);
}

s64 sys_utimensat(int dfd, const char *name, const void *times, int flags)
{
	struct timespec64 given[2];

	TRY(read_user_if_given(given, times, sizeof(given)));
	return change_times(dfd, name, times ? given : NULL, flags);
}

/* ---- size ------------------------------------------------------------------------------------ */

s64 sys_truncate(const char *name, loff_t size)
{
	struct path path __free(path) = {0};

	if (size < 0)
		return -EINVAL;
	TRY(user_path_at(AT_FDCWD, name, LOOKUP_FOLLOW, &path));
	struct inode *inode = path.dentry->inode;
	if (!S_ISREG(inode->mode))
		return S_ISDIR(inode->mode) ? -EISDIR : -EINVAL;
	struct mount *written __free(mount_drop_write) = TRY_PTR(mount_want_write(path.mount));
	TRY(inode_permission(inode, MAY_WRITE));
	if (inode->attributes & FS_APPEND_FL)
		return -EPERM;
	return truncate_by(path.dentry, inode, size, TOUCH_IF_RESIZED);
}

s64 sys_ftruncate(int number, loff_t size)
{
	if (size < 0)
		return -EINVAL;
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	if (!S_ISREG(fd.file->inode->mode) || !(fd.file->mode & FMODE_WRITE))
		return -EINVAL;
	if (fd.file->inode->attributes & FS_APPEND_FL)
		return -EPERM;
	return truncate_by(fd.file->path.dentry, fd.file->inode, size, TOUCH_ALWAYS);
}
