/*
 * sys_path.c - system calls that name files: open, stat, mkdir, rename, chmod, mount ... The work
 * is the VFS's.
 */
#include "fs/vfs.h"
#include "kernel/core/printk.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/sys/syscalls.h"
#include "kernel/sys/user_types.h"
#include "mm/slab.h"

s64 sys_openat(int dfd, const char *name, int flags, umode_t mode)
{
	return vfs_open_at(dfd, name, flags, mode);
}

s64 sys_open(const char *name, int flags, umode_t mode)
{
	return vfs_open_at(AT_FDCWD, name, flags, mode);
}

s64 sys_creat(const char *name, umode_t mode)
{
	return vfs_open_at(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* ---- stat ------------------------------------------------------------------------------------ */

static __always_inline s64 stat_at(int dfd, const char *name, unsigned flags, void *to)
{
	struct kstat stat;
	int error = vfs_stat_at(dfd, name, flags, &stat);

	if (unlikely(error))
		return error;
	return unlikely(copy_to_user(to, &stat, sizeof(stat))) ? -EFAULT : 0;
}

s64 sys_stat(const char *name, void *stat)
{
	return stat_at(AT_FDCWD, name, 0, stat);
}

s64 sys_lstat(const char *name, void *stat)
{
	return stat_at(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, stat);
}

s64 sys_fstat(int fd, void *to)
{
	struct fd f = fdget_raw(fd);
	struct kstat stat;
	s64 result;

	if (!f.file)
		return -EBADF;
	result = vfs_getattr(&f.file->path, &stat);
	fdput(f);
	if (!result && copy_to_user(to, &stat, sizeof(stat)))
		result = -EFAULT;
	return result;
}

s64 sys_newfstatat(int dfd, const char *name, void *stat, int flags)
{
	char first;

	if (unlikely(flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH)))
		return -EINVAL;
	/* fstat() of current C libraries: fstatat(fd, "", AT_EMPTY_PATH) */
	if ((flags & AT_EMPTY_PATH) && dfd >= 0 && !get_user(first, name) && !first)
		return sys_fstat(dfd, stat);
	return stat_at(dfd, name, (unsigned)flags, stat);
}

s64 sys_faccessat2(int dfd, const char *name, int mode, int flags)
{
	if (flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (mode & ~(R_OK | W_OK | X_OK))
		return -EINVAL;
	return vfs_access_at(dfd, name, mode, flags);
}

s64 sys_faccessat(int dfd, const char *name, int mode)
{
	return sys_faccessat2(dfd, name, mode, 0);
}

s64 sys_access(const char *name, int mode)
{
	return sys_faccessat2(AT_FDCWD, name, mode, 0);
}

s64 sys_readlinkat(int dfd, const char *name, char *buffer, int size)
{
	return size <= 0 ? -EINVAL : vfs_readlink_at(dfd, name, buffer, (size_t)size);
}

s64 sys_readlink(const char *name, char *buffer, int size)
{
	return sys_readlinkat(AT_FDCWD, name, buffer, size);
}

/* ---- making and removing names --------------------------------------------------------------- */

s64 sys_mkdirat(int dfd, const char *name, umode_t mode)
{
	return vfs_mkdir_at(dfd, name, mode);
}

s64 sys_mkdir(const char *name, umode_t mode)
{
	return vfs_mkdir_at(AT_FDCWD, name, mode);
}

s64 sys_mknodat(int dfd, const char *name, umode_t mode, u32 device)
{
	/* The ABI's number has the minor's upper bits at bit 20; ours are below 256. */
	if (device >> 20)
		return -EINVAL;
	return vfs_mknod_at(dfd, name, mode, device);
}

s64 sys_mknod(const char *name, umode_t mode, u32 device)
{
	return sys_mknodat(AT_FDCWD, name, mode, device);
}

s64 sys_unlinkat(int dfd, const char *name, int flags)
{
	return flags & ~AT_REMOVEDIR ? -EINVAL : vfs_unlink_at(dfd, name, flags);
}

s64 sys_unlink(const char *name)
{
	return vfs_unlink_at(AT_FDCWD, name, 0);
}

s64 sys_rmdir(const char *name)
{
	return vfs_unlink_at(AT_FDCWD, name, AT_REMOVEDIR);
}

s64 sys_symlinkat(const char *target, int dfd, const char *name)
{
	return vfs_symlink_at(target, dfd, name);
}

s64 sys_symlink(const char *target, const char *name)
{
	return vfs_symlink_at(target, AT_FDCWD, name);
}

s64 sys_linkat(int old_dfd, const char *old, int new_dfd, const char *new, int flags)
{
	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return vfs_link_at(old_dfd, old, new_dfd, new, flags);
}

s64 sys_link(const char *old, const char *new)
{
	return vfs_link_at(AT_FDCWD, old, AT_FDCWD, new, 0);
}

s64 sys_renameat2(int old_dfd, const char *old, int new_dfd, const char *new, u32 flags)
{
	return vfs_rename_at(old_dfd, old, new_dfd, new, flags);
}

s64 sys_renameat(int old_dfd, const char *old, int new_dfd, const char *new)
{
	return vfs_rename_at(old_dfd, old, new_dfd, new, 0);
}

s64 sys_rename(const char *old, const char *new)
{
	return vfs_rename_at(AT_FDCWD, old, AT_FDCWD, new, 0);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static s64 set_attributes_at(int dfd, const char *name, unsigned lookup, struct iattr *attr)
{
	struct path path;
	s64 error = user_path_at(dfd, name, lookup, &path);

	if (error)
		return error;
	error = vfs_setattr(&path, attr);
	path_put(&path);
	return error;
}

static s64 set_attributes_of(int fd, struct iattr *attr)
{
	struct fd f = fdget(fd);
	s64 error;

	if (!f.file)
		return -EBADF;
	error = vfs_setattr(&f.file->path, attr);
	fdput(f);
	return error;
}

s64 sys_fchmodat(int dfd, const char *name, umode_t mode)
{
	struct iattr attr = {.valid = ATTR_MODE, .mode = mode & S_IALLUGO};

	return set_attributes_at(dfd, name, LOOKUP_FOLLOW, &attr);
}

s64 sys_chmod(const char *name, umode_t mode)
{
	return sys_fchmodat(AT_FDCWD, name, mode);
}

s64 sys_fchmod(int fd, umode_t mode)
{
	struct iattr attr = {.valid = ATTR_MODE, .mode = mode & S_IALLUGO};

	return set_attributes_of(fd, &attr);
}

static struct iattr owner_attributes(uid_t uid, gid_t gid)
{
	struct iattr attr = {.uid = uid, .gid = gid};

	attr.valid = (uid != (uid_t)-1 ? ATTR_UID : 0) | (gid != (gid_t)-1 ? ATTR_GID : 0);
	return attr;
}

s64 sys_fchownat(int dfd, const char *name, uid_t uid, gid_t gid, int flags)
{
	struct iattr attr = owner_attributes(uid, gid);

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return set_attributes_at(dfd, name,
				 (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
					 (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0),
				 &attr);
}

s64 sys_chown(const char *name, uid_t uid, gid_t gid)
{
	return sys_fchownat(AT_FDCWD, name, uid, gid, 0);
}

s64 sys_lchown(const char *name, uid_t uid, gid_t gid)
{
	return sys_fchownat(AT_FDCWD, name, uid, gid, AT_SYMLINK_NOFOLLOW);
}

s64 sys_fchown(int fd, uid_t uid, gid_t gid)
{
	struct iattr attr = owner_attributes(uid, gid);

	return set_attributes_of(fd, &attr);
}

s64 sys_umask(u32 mask)
{
	struct fs_context *fs = current->fs;
	u32 old = fs->umask;

	fs->umask = mask & S_IRWXUGO;
	return old;
}

/* One of the two times of utimensat(): its ATTR_* bits. Now, for one of them alone, is a time like
 * another: it takes the owner. */
static int take_time(struct timespec64 *time, u32 bit, u32 set_bit, u32 *valid)
{
	if (time->tv_nsec == UTIME_OMIT)
		return 0;
	if (time->tv_nsec == UTIME_NOW)
		*time = current_time();
	if ((u64)time->tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	*valid |= bit | set_bit;
	return 0;
}

/* @times NULL: now. */
static s64 set_times(int dfd, const char *name, const struct timespec64 *times, int flags)
{
	struct iattr attr = {.valid = ATTR_TOUCH | ATTR_ATIME | ATTR_MTIME};
	unsigned lookup = (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
			  (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);

	if (times && !(times[0].tv_nsec == UTIME_NOW && times[1].tv_nsec == UTIME_NOW)) {
		attr.valid = 0;
		attr.atime = times[0];
		attr.mtime = times[1];
		if (take_time(&attr.atime, ATTR_ATIME, ATTR_ATIME_SET, &attr.valid) ||
		    take_time(&attr.mtime, ATTR_MTIME, ATTR_MTIME_SET, &attr.valid))
			return -EINVAL;
		if (!attr.valid)
			return 0;
	}
	/* A null name means the descriptor itself: futimens(). */
	return name || dfd == AT_FDCWD ? set_attributes_at(dfd, name, lookup, &attr)
				       : set_attributes_of(dfd, &attr);
}

s64 sys_utimensat(int dfd, const char *name, const void *user_times, int flags)
{
	struct timespec64 times[2];

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (user_times && copy_from_user(times, user_times, sizeof(times)))
		return -EFAULT;
	return set_times(dfd, name, user_times ? times : NULL, flags);
}

/* Times in seconds and microseconds. */
s64 sys_futimesat(int dfd, const char *name, const s64 *user_times)
{
	struct timespec64 times[2];

	if (!user_times)
		return set_times(dfd, name, NULL, 0);
	if (copy_from_user(times, user_times, sizeof(times)))
		return -EFAULT;
	for (int i = 0; i < 2; i++) {
		if ((u64)times[i].tv_nsec >= 1000000)
			return -EINVAL;
		times[i].tv_nsec *= 1000;
	}
	return set_times(dfd, name, times, 0);
}

s64 sys_utimes(const char *name, const s64 *times)
{
	return sys_futimesat(AT_FDCWD, name, times);
}

s64 sys_utime(const char *name, const s64 *user_times)
{
	struct timespec64 times[2] = {{0}};

	if (!user_times)
		return set_times(AT_FDCWD, name, NULL, 0);
	if (get_user(times[0].tv_sec, user_times) || get_user(times[1].tv_sec, user_times + 1))
		return -EFAULT;
	return set_times(AT_FDCWD, name, times, 0);
}

s64 sys_truncate(const char *name, loff_t size)
{
	struct path path;
	s64 error;

	if (size < 0)
		return -EINVAL;
	error = user_path_at(AT_FDCWD, name, LOOKUP_FOLLOW, &path);
	if (error)
		return error;
	error = size > path.dentry->inode->size ? limit_growth(path.dentry->inode, size) : 0;
	if (!error)
		error = vfs_truncate(&path, size);
	path_put(&path);
	return error;
}

/* ---- where we are ---------------------------------------------------------------------------- */

s64 sys_getcwd(char *buffer, size_t size)
{
	return vfs_getcwd(buffer, size);
}

s64 sys_chdir(const char *name)
{
	struct path path;
	s64 error = user_path_at(AT_FDCWD, name, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path);

	if (error)
		return error;
	error = vfs_chdir(&path);
	path_put(&path);
	return error;
}

s64 sys_fchdir(int fd)
{
	struct fd f = fdget_raw(fd);
	s64 error;

	if (!f.file)
		return -EBADF;
	error = S_ISDIR(f.file->inode->mode) ? vfs_chdir(&f.file->path) : -ENOTDIR;
	fdput(f);
	return error;
}

s64 sys_chroot(const char *name)
{
	struct path path;
	s64 error = user_path_at(AT_FDCWD, name, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path);

	if (error)
		return error;
	error = vfs_chroot(&path);
	path_put(&path);
	return error;
}

/* ---- file systems ---------------------------------------------------------------------------- */

static s64 report_statfs(const struct path *path, void *to)
{
	struct kstatfs stat;
	s64 error;

	memset(&stat, 0, sizeof(stat));
	error = vfs_statfs(path, &stat);
	if (!error && copy_to_user(to, &stat, sizeof(stat)))
		error = -EFAULT;
	return error;
}

s64 sys_statfs(const char *name, void *stat)
{
	struct path path;
	s64 error = user_path_at(AT_FDCWD, name, LOOKUP_FOLLOW, &path);

	if (error)
		return error;
	error = report_statfs(&path, stat);
	path_put(&path);
	return error;
}

s64 sys_fstatfs(int fd, void *stat)
{
	struct fd f = fdget_raw(fd);
	s64 error;

	if (!f.file)
		return -EBADF;
	error = report_statfs(&f.file->path, stat);
	fdput(f);
	return error;
}

s64 sys_sync(void)
{
	vfs_sync_all(); /* has no way to fail; errors are reported by fsync() */
	return 0;
}

s64 sys_syncfs(int fd)
{
	struct fd f = fdget(fd);

	if (!f.file)
		return -EBADF;
	fdput(f);
	return vfs_sync_all();
}

/* The three strings of mount(2), each NULL if the program gave none. */
struct mount_strings {
	char *device, *type, *options;
};

static int copy_string(const char *from, char **to, size_t limit)
{
	s64 length;

	*to = NULL;
	if (!from)
		return 0;
	*to = kmalloc(PAGE_SIZE, GFP_KERNEL);
	if (!*to)
		return -ENOMEM;
	length = strncpy_from_user(*to, from, limit);
	if (length < 0)
		return (int)length;
	return (size_t)length == limit ? -EINVAL : 0;
}

static void free_strings(struct mount_strings *strings)
{
	kfree(strings->device);
	kfree(strings->type);
	kfree(strings->options);
}

s64 sys_mount(const char *device, const char *where, const char *type, u64 flags,
	      const char *options)
{
	struct mount_strings strings = {0};
	struct path path;
	s64 error;

	if (!capable(current->cred))
		return -EPERM;
	if ((flags & MS_MGC_MSK) == MS_MGC_VAL)
		flags &= ~(u64)MS_MGC_MSK;
	error = copy_string(device, &strings.device, PAGE_SIZE - 8);
	if (!error)
		error = copy_string(type, &strings.type, 64);
	if (!error)
		error = copy_string(options, &strings.options, PAGE_SIZE - 8);
	if (!error)
		error = user_path_at(AT_FDCWD, where, LOOKUP_FOLLOW, &path);
	if (!error) {
		error = vfs_mount(strings.device, &path, strings.type, (unsigned)flags,
				  strings.options);
		path_put(&path);
	}
	free_strings(&strings);
	return error;
}

s64 sys_umount2(const char *where, u32 flags)
{
	struct path path;
	s64 error;

	if (flags & ~(u32)(MNT_FORCE | MNT_DETACH | MNT_EXPIRE | UMOUNT_NOFOLLOW))
		return -EINVAL;
	if (!capable(current->cred))
		return -EPERM;
	error = user_path_at(AT_FDCWD, where, flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &path);
	if (error)
		return error;
	error = vfs_umount(&path, flags);
	path_put(&path);
	return error;
}
