/*
 * old_calls.c - the system calls from before there were directory descriptors and flags: each is
 * its successor's with fixed arguments.
 */
#include "fs/abi.h"

#define OLD_CALL(call, parameters, successor, ...)                                                 \
	SYSCALL_IS(call, parameters, sys_##successor(__VA_ARGS__))

/* clang-format off */
OLD_CALL(open, (const char *name, int flags, umode_t mode), openat, AT_FDCWD, name, flags, mode)
OLD_CALL(creat, (const char *name, umode_t mode), openat, AT_FDCWD, name,
	 O_CREAT | O_WRONLY | O_TRUNC, mode)
OLD_CALL(stat, (const char *name, void *stat), newfstatat, AT_FDCWD, name, stat, 0)
OLD_CALL(lstat, (const char *name, void *stat), newfstatat, AT_FDCWD, name, stat,
	 AT_SYMLINK_NOFOLLOW)
OLD_CALL(access, (const char *name, int mode), faccessat2, AT_FDCWD, name, mode, 0)
OLD_CALL(faccessat, (int dfd, const char *name, int mode), faccessat2, dfd, name, mode, 0)
OLD_CALL(readlink, (const char *name, char *to, int size), readlinkat, AT_FDCWD, name, to, size)
OLD_CALL(mkdir, (const char *name, umode_t mode), mkdirat, AT_FDCWD, name, mode)
OLD_CALL(mknod, (const char *name, umode_t mode, u32 dev), mknodat, AT_FDCWD, name, mode, dev)
OLD_CALL(unlink, (const char *name), unlinkat, AT_FDCWD, name, 0)
OLD_CALL(rmdir, (const char *name), unlinkat, AT_FDCWD, name, AT_REMOVEDIR)
OLD_CALL(symlink, (const char *target, const char *name), symlinkat, target, AT_FDCWD, name)
OLD_CALL(link, (const char *old, const char *new), linkat, AT_FDCWD, old, AT_FDCWD, new, 0)
OLD_CALL(rename, (const char *old, const char *new), renameat2, AT_FDCWD, old, AT_FDCWD, new, 0)
OLD_CALL(renameat, (int old_dfd, const char *old, int new_dfd, const char *new), renameat2,
	 old_dfd, old, new_dfd, new, 0)
OLD_CALL(chmod, (const char *name, umode_t mode), fchmodat, AT_FDCWD, name, mode)
OLD_CALL(chown, (const char *name, uid_t uid, gid_t gid), fchownat, AT_FDCWD, name, uid, gid, 0)
OLD_CALL(lchown, (const char *name, uid_t uid, gid_t gid), fchownat, AT_FDCWD, name, uid, gid,
	 AT_SYMLINK_NOFOLLOW)
OLD_CALL(utimes, (const char *name, const s64 *times), futimesat, AT_FDCWD, name, times)
OLD_CALL(dup, (int fd), fcntl, fd, F_DUPFD, 0)
OLD_CALL(pipe, (int *fds), pipe2, fds, 0)
/* To the newer ones an offset of -1 is the file's own position, to these an error as below it. */
#define OFFSET(offset) ((offset) < 0 ? -2 : (offset))
OLD_CALL(readv, (int fd, const void *vector, u64 n), preadv2, fd, vector, n, -1, 0, 0)
OLD_CALL(writev, (int fd, const void *vector, u64 n), pwritev2, fd, vector, n, -1, 0, 0)
OLD_CALL(preadv, (int fd, const void *vector, u64 n, loff_t offset), preadv2, fd, vector, n,
	 OFFSET(offset), 0, 0)
OLD_CALL(pwritev, (int fd, const void *vector, u64 n, loff_t offset), pwritev2, fd, vector, n,
	 OFFSET(offset), 0, 0)
/* clang-format on */
