/*
 * sys_attr.c - statx(2).
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
