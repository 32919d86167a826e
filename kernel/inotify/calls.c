/*
 * calls.c - the calls of inotify(7).
 */
#include "fs/calls/calls.h"
#include "kernel/inotify/inotify.h"

#define ADD_FLAGS (IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK | IN_MASK_CREATE | IN_MASK_ADD)
/* What is told unasked may be asked for. */
#define TOLD (IN_UNMOUNT | IN_Q_OVERFLOW | IN_IGNORED | IN_ISDIR)
#define MASK_BITS (IN_ALL_EVENTS | ADD_FLAGS | TOLD | IN_ONESHOT)

s64 sys_inotify_init1(int flags)
{
	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	TRY(fd_room());
	struct file *file = TRY_PTR(inotify_file((u32)flags));
	return fd_add(file, 0, flags & O_CLOEXEC);
}

s64 sys_inotify_init(void)
{
	return sys_inotify_init1(0);
}

s64 sys_inotify_add_watch(int number, const char *name, u32 mask)
{
	struct path path __free(path) = {0};
	const u32 either = IN_MASK_ADD | IN_MASK_CREATE;

	if (!mask || (mask & ~MASK_BITS))
		return -EINVAL;
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct inotify *inotify = inotify_of(fd.file);
	if (!inotify || (mask & either) == either)
		return -EINVAL;
	TRY(user_path_at(AT_FDCWD, name, mask & IN_DONT_FOLLOW ? 0 : LOOKUP_FOLLOW, &path));
	struct inode *inode = path.dentry->inode;
	if ((mask & IN_ONLYDIR) && !S_ISDIR(inode->mode))
		return -ENOTDIR;
	TRY(inode_permission(inode, MAY_READ));
	return watch_set(inotify, path.dentry, mask);
}

s64 sys_inotify_rm_watch(int number, int wd)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct inotify *inotify = inotify_of(fd.file);

	if (!inotify)
		return -EINVAL;
	return watch_end(inotify, wd);
}
