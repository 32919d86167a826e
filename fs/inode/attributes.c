/*
 * attributes.c - changing an inode's mode, owner, times and size. See attributes.h.
 *
 * The checks are Linux's, and in its order, since that decides which errno a program sees.
 */
#include "fs/inode/attributes.h"
#include "fs/inode/permission.h"
#include "fs/inode/times.h"
#include "fs/direct_hooks.h"

int vfs_chmod(const struct path *path, umode_t mode)
{
	struct inode *inode = path->dentry->inode;

	struct mount *written __free(mount_drop_write) = TRY_PTR(mount_want_write(path->mount));
	guard(write, &inode->lock);
	if (!owner_or_root(inode) || (inode->sb->flags & SB_FIXED_OWNERS) ||
	    (inode->attributes & FS_KEPT_FL))
		return -EPERM;
	if (current->cred->euid != 0 && !in_group(current->cred, inode->gid))
		mode &= ~(umode_t)S_ISGID;
	mode = (mode & S_IALLUGO) | (inode->mode & S_IFMT);
#ifdef CONFIG_DCACHE_FASTPATH
	guard(change_rights, searched_otherwise(path->dentry, mode, inode->uid, inode->gid));
#endif
	inode_set_owner(inode, mode, inode->uid, inode->gid);
	return changed_by(path->dentry, inode, IN_ATTRIB);
}

int vfs_chown(const struct path *path, uid_t uid, gid_t gid)
{
	bool asked = uid != (uid_t)-1 || gid != (gid_t)-1;
	struct inode *inode = path->dentry->inode;
	const struct cred *cred = current->cred;

	struct mount *written __free(mount_drop_write) = TRY_PTR(mount_want_write(path->mount));
	guard(write, &inode->lock);
	/* set-id bits go even if no owner changes, which takes the owner as well */
	umode_t mode = S_ISDIR(inode->mode) ? inode->mode : mode_unprivileged(inode, inode->mode);
	if ((asked || mode != inode->mode) &&
	    (!owner_or_root(inode) || (inode->sb->flags & SB_FIXED_OWNERS)))
		return -EPERM;
	if (asked && (inode->attributes & FS_KEPT_FL))
		return -EPERM;
	if (uid == (uid_t)-1)
		uid = inode->uid;
	if (gid == (gid_t)-1)
		gid = inode->gid;
	if (cred->euid != 0 &&
	    (uid != inode->uid || (gid != inode->gid && !in_group(cred, gid))))
		return -EPERM;
	u32 event = asked || mode != inode->mode ? IN_ATTRIB : 0;
#ifdef CONFIG_DCACHE_FASTPATH
	guard(change_rights, searched_otherwise(path->dentry, mode, uid, gid));
#endif
	inode_set_owner(inode, mode, uid, gid);
	return changed_by(path->dentry, inode, event);
}

int set_times(const struct path *path, const struct timespec64 times[2], enum times_kind kind)
{
	struct inode *inode = path->dentry->inode;
	unsigned refused = kind == BOTH_NOW ? FS_IMMUTABLE_FL : FS_KEPT_FL;
	u32 event = IN_ATTRIB; /* both; one of them is what makes it so */

	struct mount *written __free(mount_drop_write) = TRY_PTR(mount_want_write(path->mount));
	guard(write, &inode->lock);
	if (inode->attributes & refused)
		return -EPERM;
	if (!owner_or_root(inode)) {
		if (kind != BOTH_NOW)
			return -EPERM;
		TRY(inode_permission(inode, MAY_WRITE));
	}
	if (times[0].tv_nsec == UTIME_OMIT)
		event = IN_MODIFY;
	else if (times[1].tv_nsec == UTIME_OMIT)
		event = IN_ACCESS;
	spin_lock(&inode->spin);
	if (times[0].tv_nsec != UTIME_OMIT)
		inode->atime = times[0];
	if (times[1].tv_nsec != UTIME_OMIT)
		inode->mtime = times[1];
	spin_unlock(&inode->spin);
	return changed_by(path->dentry, inode, event);
}

int set_attributes(const struct path *path, u32 attributes)
{
	struct inode *inode = path->dentry->inode;

	struct mount *written __free(mount_drop_write) = TRY_PTR(mount_want_write(path->mount));
	guard(write, &inode->lock);
	if (!owner_or_root(inode))
		return -EPERM;
	if (((attributes ^ inode->attributes) & FS_KEPT_FL) && !capable(current->cred))
		return -EPERM;
	if (attributes & ~(u32)(FS_KEPT_FL | FS_INHERITED_FL))
		return -EOPNOTSUPP;
	inode->attributes = (u8)attributes;
	return changed_by(path->dentry, inode, IN_ATTRIB);
}

/* ---- size ------------------------------------------------------------------------------------ */

int limit_growth(const struct inode *inode, loff_t size)
{
	lockdep_assert_held(&inode->lock);
	if (likely((u64)size <= current_limit(RLIMIT_FSIZE)) || !S_ISREG(inode->mode))
		return 0;
	send_signal_current(SIGXFSZ);
	return -EFBIG;
}

int do_truncate(struct inode *inode, loff_t size, enum truncate_times times)
{
	TRY(get_write_access(inode));
	down_write(&inode->lock);
	/* A file system in memory leaves the time as it is where the size stays. */
	bool touch = times == TOUCH_ALWAYS || size != inode->data.size || inode->sb->bdev;
	int error = 0;
	if (size > inode->data.size)
		error = limit_growth(inode, size);
	if (size > (loff_t)inode->sb->max_bytes)
		error = -EFBIG;
	if (!error && inode->op->truncate)
		error = inode->op->truncate(inode, size);
	if (!error) {
		if (current->cred->euid != 0)
			inode->mode = mode_unprivileged(inode, inode->mode);
		/* the times first: once it is dirty it may be written */
		if (touch)
			file_update_time(inode);
		else
			inode_changed(inode);
	}
	up_write(&inode->lock);
	put_write_access(inode);
	return error;
}

/* ---- running it ------------------------------------------------------------------------------ */

void cred_of_program(struct cred *cred, const struct path *path)
{
	struct inode *inode = path->dentry->inode;

	if (!((path->mount->flags | path->mount->sb->flags) & SB_NOSUID)) {
		/* chown() takes the bits away first: not those of the old owner with the new one */
		guard(read, &inode->lock);
		if (inode->mode & S_ISUID)
			cred->euid = inode->uid;
		if ((inode->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
			cred->egid = inode->gid;
	}
	cred->suid = cred->euid;
	cred->sgid = cred->egid;
}
