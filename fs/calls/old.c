/*
 * old.c - the system calls from before there were directory descriptors and flags: each is its
 * successor's with fixed arguments.
 */
#include "fs/abi.h"

s64 sys_open(const char *name, int flags, umode_t mode)
{
	return sys_openat(AT_FDCWD, name, flags, mode);
}

s64 sys_creat(const char *name, umode_t mode)
{
	return sys_openat(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

s64 sys_stat(const char *name, void *stat)
{
	return sys_newfstatat(AT_FDCWD, name, stat, 0);
}

s64 sys_lstat(const char *name, void *stat)
{
	return sys_newfstatat(AT_FDCWD, name, stat, AT_SYMLINK_NOFOLLOW);
}

s64 sys_access(const char *name, int mode)
{
	return sys_faccessat2(AT_FDCWD, name, mode, 0);
}

s64 sys_readlink(const char *name, char *to, int size)
{
	return sys_readlinkat(AT_FDCWD, name, to, size);
}

s64 sys_mkdir(const char *name, umode_t mode)
{
	return sys_mkdirat(AT_FDCWD, name, mode);
}

s64 sys_mknod(const char *name, umode_t mode, u32 dev)
{
	return sys_mknodat(AT_FDCWD, name, mode, dev);
}

s64 sys_unlink(const char *name)
{
	return sys_unlinkat(AT_FDCWD, name, 0);
}

s64 sys_rmdir(const char *name)
{
	return sys_unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

s64 sys_symlink(const char *target, const char *name)
{
	return sys_symlinkat(target, AT_FDCWD, name);
}

s64 sys_link(const char *old, const char *new)
{
	return sys_linkat(AT_FDCWD, old, AT_FDCWD, new, 0);
}

s64 sys_rename(const char *old, const char *new)
{
	return sys_renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);
}

s64 sys_renameat(int old_dfd, const char *old, int new_dfd, const char *new)
{
	return sys_renameat2(old_dfd, old, new_dfd, new, 0);
}

s64 sys_chmod(const char *name, umode_t mode)
{
	return sys_fchmodat(AT_FDCWD, name, mode);
}

s64 sys_chown(const char *name, uid_t uid, gid_t gid)
{
	return sys_fchownat(AT_FDCWD, name, uid, gid, 0);
}

s64 sys_lchown(const char *name, uid_t uid, gid_t gid)
{
	return sys_fchownat(AT_FDCWD, name, uid, gid, AT_SYMLINK_NOFOLLOW);
}

s64 sys_dup(int fd)
{
	return sys_fcntl(fd, F_DUPFD, 0);
}

s64 sys_pipe(int *fds)
{
	return sys_pipe2(fds, 0);
}
