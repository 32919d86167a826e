/*
 * times.c - an inode's three times: when it was read, written and changed. See times.h.
 */
#include "fs/inode/times.h"

#define ATIME_SECONDS (24 * 3600) /* an access time older than this is renewed */

static __always_inline bool later(const struct timespec64 *a, const struct timespec64 *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

inline bool atime_is_due(const struct inode *inode, const struct mount *mount)
{
	unsigned flags = data_race(inode->sb->flags) | data_race(mount->flags);

	if ((flags & (SB_NOATIME | SB_RDONLY)) || ((flags & SB_NODIRATIME) && S_ISDIR(inode->mode)))
		return false;
	if ((flags & MS_RELATIME) && later(&inode->atime, &inode->mtime) &&
	    later(&inode->atime, &inode->ctime) &&
	    realtime_ns() < (u64)(inode->atime.tv_sec + ATIME_SECONDS) * NSEC_PER_SEC)
		return false;
	return !(inode->attributes & FS_NOATIME_FL);
}

void touch_inode_atime(struct inode *inode, const struct mount *mount)
{
	if (!atime_is_due(inode, mount))
		return;
	inode->atime = current_time();
	mark_inode_dirty(inode);
}

void touch_atime(struct file *file)
{
	if (!(file->flags & O_NOATIME))
		touch_inode_atime(file->inode, file->path.mount);
}

/* A time was changed under inode->spin, which is let go. As mark_inode_dirty(), but the flag is
 * looked at under the lock under which write-back takes it away: if it does so later, it sees the
 * change. */
static inline void unlock_changed(struct inode *inode)
{
	lockdep_assert_held(&inode->spin);
	bool dirty = inode->flags & I_DIRTY;

	spin_unlock(&inode->spin);
	if (unlikely(!dirty))
		__mark_inode_dirty(inode);
}

void file_update_time(struct inode *inode)
{
	struct timespec64 now = current_time();

	spin_lock(&inode->spin);
	inode->mtime = now;
	inode->ctime = now;
	unlock_changed(inode);
}

int inode_changed(struct inode *inode)
{
	struct timespec64 now = current_time();

	spin_lock(&inode->spin);
	inode->ctime = now;
	unlock_changed(inode);
	return 0;
}
