/*
 * descriptors.c - the calls on descriptors: closing, duplicating, fcntl and ioctl.
 */
#include "fs/calls/calls.h"
#include "fs/inode/attributes.h"

s64 sys_close(int fd)
{
	return fd_close(fd);
}

s64 sys_dup3(int old, int new, int flags)
{
	if (old == new || (flags & ~O_CLOEXEC))
		return -EINVAL;
	struct fd fd __free(fd) = TRY_FD(fdget_raw(old));
	return fd_replace((u32)new, fd.file, flags);
}

s64 sys_dup2(int old, int new)
{
	struct fd fd __free(fd) = TRY_FD(fdget_raw(old));

	if (old == new)
		return new;
	return sys_dup3(old, new, 0);
}

/* ---- fcntl, ioctl ---------------------------------------------------------------------------- */

/* The status flags that F_SETFL may change. */
#define SETFL_MASK (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME)

s64 sys_fcntl(int number, u32 command, u64 argument)
{
	struct fd fd __free(fd) = TRY_FD(fdget_raw(number));
	u32 *flags = &fd.file->flags, new = (u32)argument &SETFL_MASK;

	switch (command) {
	case F_DUPFD:
		return fd_duplicate(fd.file, argument, 0);
	case F_DUPFD_CLOEXEC:
		return fd_duplicate(fd.file, argument, O_CLOEXEC);
	case F_GETFD:
		return fd_get_flags(number);
	case F_SETFD:
		return fd_set_flags(number, argument & FD_CLOEXEC);
	case F_GETFL:
		return *flags;
	}
	if (fd.file->mode & FMODE_PATH)
		return -EBADF;
	if (command == F_GETPIPE_SZ)
		return fd.file->fop == &pipe_file_operations ? (s64)PIPE_BYTES : -EBADF;
	if (command != F_SETFL)
		return fcntl_lock_call(number, fd.file, command, (void *)argument);
	if (((new ^ *flags) & O_APPEND) && (fd.file->inode->attributes & FS_APPEND_FL))
		return -EPERM;
	if ((new & ~*flags &O_NOATIME) && !owner_or_root(fd.file->inode))
		return -EPERM;
	if (((u32)argument & ~*flags & (O_DIRECT | O_ASYNC)) && !S_ISREG(fd.file->inode->mode))
		return -EINVAL; /* no packets in a pipe, no signals; both mean nothing to a file */
	*flags = (*flags & ~(u32)SETFL_MASK) | new;
	return 0;
}

/* What chattr(1) and lsattr(1) ask of files and directories, of file systems that keep it. The
 * version tells files apart that had one number on a disk. */
static s64 attributes_call(const struct file *file, u32 command, u32 __user *user)
{
	const struct inode *inode = file->inode;
	u32 value = command == FS_IOC_GETFLAGS ? inode->attributes : inode->generation;

	if ((!S_ISREG(inode->mode) && !S_ISDIR(inode->mode)) ||
	    (inode->sb->flags & SB_FIXED_OWNERS) ||
	    (command == FS_IOC_GETVERSION && !inode->sb->bdev))
		return -ENOTTY;
	if (command != FS_IOC_SETFLAGS)
		return put_user(value, user);
	TRY(get_user(value, user));
	return set_attributes(&file->path, value);
}

s64 sys_ioctl(int number, u32 command, u64 argument)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct file *file = fd.file;
	int on;

	switch (command) {
	case FIOCLEX:
	case FIONCLEX:
		return fd_set_flags(number, command == FIOCLEX ? FD_CLOEXEC : 0);
	case FIONBIO:
		TRY(get_user(on, (int *)argument));
		/* while others may set the other flags */
		on ? __atomic_fetch_or(&file->flags, O_NONBLOCK, __ATOMIC_RELAXED) :
		     __atomic_fetch_and(&file->flags, ~(u32)O_NONBLOCK, __ATOMIC_RELAXED);
		return 0;
	case FIONREAD:
		if (!S_ISREG(file->inode->mode))
			break;
		return put_user((int)(file->inode->data.size - file->position), (int *)argument);
	case FS_IOC_GETFLAGS:
	case FS_IOC_SETFLAGS:
	case FS_IOC_GETVERSION:
		return attributes_call(file, command, (u32 *)argument);
	}
	if (file->fop->ioctl)
		return file->fop->ioctl(file, command, argument);
	return -ENOTTY;
}
