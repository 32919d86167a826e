/*
 * sys_attr.c - statx(2), and extended attributes: no file system here has any.
 */
#include "fs/vfs.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/sys/syscalls.h"

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
	struct kstat stat;
	struct statx out;
	s64 error;

	if ((mask & STATX_RESERVED) || (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE)
		return -EINVAL;
	error = vfs_stat_at(dfd, name, (unsigned)(flags & ~AT_STATX_SYNC_TYPE), &stat);
	if (error)
		return error;
	memset(&out, 0, sizeof(out));
	out.mask = STATX_BASIC_STATS;
	out.block_size = (u32)stat.blksize;
	out.links = (u32)stat.nlink;
	out.uid = stat.uid;
	out.gid = stat.gid;
	out.mode = (u16)stat.mode;
	out.inode = stat.ino;
	out.size = (u64)stat.size;
	out.blocks = (u64)stat.blocks;
	out.atime = statx_time(stat.atime);
	out.ctime = statx_time(stat.ctime);
	out.mtime = statx_time(stat.mtime);
	out.rdev_major = MAJOR(stat.rdev);
	out.rdev_minor = MINOR(stat.rdev);
	out.dev_major = MAJOR(stat.dev);
	out.dev_minor = MINOR(stat.dev);
	return copy_to_user(to, &out, sizeof(out)) ? -EFAULT : 0;
}

/* ---- extended attributes
 * ----------------------------------------------------------------------------------- */

/* @result if @name, or @fd, is a file at all. */
static s64 of_name(const char *name, unsigned lookup, s64 result)
{
	struct path path;
	s64 error = user_path_at(AT_FDCWD, name, lookup, &path);

	if (error)
		return error;
	path_put(&path);
	return result;
}

static s64 of_descriptor(int fd, s64 result)
{
	struct fd f = fdget(fd);

	if (!f.file)
		return -EBADF;
	fdput(f);
	return result;
}

/* What is asked for, or is to be set, makes no difference: those arguments are not looked at. */
#define NO_ATTRIBUTES_BY_NAME(call, lookup, result)                                                \
	s64 sys_##call(const char *name)                                                           \
	{                                                                                          \
		return of_name(name, lookup, result);                                              \
	}
#define NO_ATTRIBUTES_BY_DESCRIPTOR(call, result)                                                  \
	s64 sys_##call(int fd)                                                                     \
	{                                                                                          \
		return of_descriptor(fd, result);                                                  \
	}

NO_ATTRIBUTES_BY_NAME(setxattr, LOOKUP_FOLLOW, -EOPNOTSUPP)
NO_ATTRIBUTES_BY_NAME(lsetxattr, 0, -EOPNOTSUPP)
NO_ATTRIBUTES_BY_DESCRIPTOR(fsetxattr, -EOPNOTSUPP)
NO_ATTRIBUTES_BY_NAME(getxattr, LOOKUP_FOLLOW, -EOPNOTSUPP)
NO_ATTRIBUTES_BY_NAME(lgetxattr, 0, -EOPNOTSUPP)
NO_ATTRIBUTES_BY_DESCRIPTOR(fgetxattr, -EOPNOTSUPP)
/* an empty list, as Linux says of such file systems */
NO_ATTRIBUTES_BY_NAME(listxattr, LOOKUP_FOLLOW, 0)
NO_ATTRIBUTES_BY_NAME(llistxattr, 0, 0)
NO_ATTRIBUTES_BY_DESCRIPTOR(flistxattr, 0)
NO_ATTRIBUTES_BY_NAME(removexattr, LOOKUP_FOLLOW, -EOPNOTSUPP)
NO_ATTRIBUTES_BY_NAME(lremovexattr, 0, -EOPNOTSUPP)
NO_ATTRIBUTES_BY_DESCRIPTOR(fremovexattr, -EOPNOTSUPP)
