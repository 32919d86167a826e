/*
 * stat.c - the calls that tell about a file or a file system: stat(2) and its kin, statx, statfs.
 *
 * Attributes are read without inode->lock, as in Linux: a program may see one of two changes in a
 * row.
 */
#include "fs/calls/calls.h"
#include "fs/path/lockless/lockless.h"

static __always_inline void stat_inode(const struct inode *inode, struct kstat *stat)
{
	*stat = (struct kstat){
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
}

static __always_inline s64 tell(const struct kstat *stat, void __user *to)
{
	return unlikely(copy_to_user(to, stat, sizeof(*stat))) ? -EFAULT : 0;
}

static __always_inline int stat_name(int dfd, const char *name, unsigned lookup,
				     struct kstat *stat)
{
	struct path path;

#ifdef LOCKLESS_WALK /* without a reference, if all is simple */
	struct component component;
	struct lockless_walk walk;

	walk.component = &component;
	rcu_read_lock();
	int walked = lockless_find(dfd, name, lookup, &walk);
	if (likely(walked == LOCKLESS_ALL)) {
		stat_inode(walk.inode, stat);
		if (likely(lockless_still_there(&walk))) {
			rcu_read_unlock();
			return 0;
		}
	}
	TRY(lockless_end(walked, &walk, dfd, name, &path));
#else
	TRY(path_lookup(dfd, name, lookup, NULL, &path));
#endif
	stat_inode(path.dentry->inode, stat);
	path_put(&path);
	return 0;
}

static __always_inline int stat_path(int dfd, const char __user *from, unsigned lookup,
				     struct kstat *stat)
{
	struct path_name name __free(name);

	TRY(path_name_get(&name, from));
	return stat_name(dfd, name.text, lookup, stat);
}

s64 sys_fstat(int number, void *to)
{
	struct fd fd __free(fd) = TRY_FD(fdget_raw(number));
	struct kstat stat;

	stat_inode(fd.file->inode, &stat);
	return tell(&stat, to);
}

s64 sys_newfstatat(int dfd, const char *name, void *to, int flags)
{
	struct kstat stat;
	char first;

	int lookup = TRY(at_lookup(flags, AT_NO_AUTOMOUNT));
	/* fstat() of current C libraries: fstatat(fd, "", AT_EMPTY_PATH) */
	if ((flags & AT_EMPTY_PATH) && dfd >= 0 && !get_user(first, name) && !first)
		return sys_fstat(dfd, to);
	TRY(stat_path(dfd, name, (unsigned)lookup, &stat));
	return tell(&stat, to);
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

/* ---- file systems ---------------------------------------------------------------------------- */

static s64 statfs_at(int dfd, const char __user *name, unsigned lookup, void __user *to)
{
	const unsigned told =
		SB_RDONLY | SB_NOSUID | SB_NODEV | SB_NOEXEC | SB_NOATIME | SB_NODIRATIME;
	struct path path __free(path) = {0};

	TRY(user_path_at(dfd, name, lookup, &path));
	struct super_block *sb = path.dentry->inode->sb;
	struct kstatfs stat = {
		.type = sb->type->magic,
		.namelen = NAME_MAX,
		.bsize = sb->block_size,
		.frsize = sb->block_size,
		.fsid = {(u32)sb->dev},
		.flags = ST_VALID | ((sb->flags | path.mount->flags) & told),
	};
	if (path.mount->flags & MS_RELATIME)
		stat.flags |= ST_RELATIME;
	if (sb->op->statfs)
		sb->op->statfs(sb, &stat);
	return write_user(to, &stat, sizeof(stat));
}

s64 sys_statfs(const char *name, void *to)
{
	return statfs_at(AT_FDCWD, name, LOOKUP_FOLLOW, to);
}

s64 sys_fstatfs(int fd, void *to)
{
	return statfs_at(fd, NULL, LOOKUP_FD_PATH, to);
}
