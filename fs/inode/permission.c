/*
 * permission.c - who may do what to an inode; writers against running programs. See permission.h.
 *
 * Permission is decided by current's euid, egid and groups against the inode's owner, group and
 * mode; euid 0 may do everything but execute a file that nobody may execute. Checks are made as
 * Linux makes them and in its order, since the order decides which errno a program sees.
 */
#include "fs/inode/permission.h"

/* Writing to it does not change a file system. */
bool is_special(const struct inode *inode)
{
	return !S_ISREG(inode->mode) && !S_ISDIR(inode->mode) && !S_ISLNK(inode->mode);
}

/* The mode and the owners as they were at one moment: whoever changes them holds a lock. */
static __always_inline void read_owner(const struct inode *inode, umode_t *mode, uid_t *uid,
				       gid_t *gid)
{
	u32 sequence;

	do {
		sequence = read_seqcount_begin(&inode->owner_sequence);
		*mode = READ_ONCE(inode->mode);
		*uid = READ_ONCE(inode->uid);
		*gid = READ_ONCE(inode->gid);
	} while (unlikely(read_seqcount_retry(&inode->owner_sequence, sequence)));
}

/* Of somebody who is not root: as the owner, as one of the group, or as anybody else. */
static noinline int permission_by_mode(const struct inode *inode, int mask)
{
	const struct cred *cred = current->cred;
	umode_t mode;
	uid_t uid;
	gid_t gid;

	read_owner(inode, &mode, &uid, &gid);
	if (cred->euid == uid)
		mode >>= 6;
	else if (in_group(cred, gid))
		mode >>= 3;
	return (mask & ~mode & (MAY_READ | MAY_WRITE | MAY_EXEC)) ? -EACCES : 0;
}

int inode_permission(struct inode *inode, int mask)
{
	if (mask & MAY_WRITE) {
		if (unlikely(READ_ONCE(inode->sb->flags) & SB_RDONLY) && !is_special(inode))
			return -EROFS;
		if (unlikely(inode->attributes & FS_IMMUTABLE_FL))
			return -EPERM;
	}
	if (current->cred->euid != 0)
		return if_labels(label_permission(inode, mask)) ?: permission_by_mode(inode, mask);
	if (!(mask & MAY_EXEC))
		return 0;
	umode_t mode = READ_ONCE(inode->mode);
	if ((mode & S_IXUGO) || S_ISDIR(mode))
		return 0;
	return -EACCES; /* a file that nobody may execute */
}

bool owner_or_root(const struct inode *inode)
{
	return current->cred->euid == 0 || current->cred->euid == inode->uid;
}

/* May a name be made in @dir? @dentry is what was found under it. */
int may_create(struct inode *dir, const struct dentry *dentry)
{
	lockdep_assert_held(&dir->lock);
	if (dentry->inode)
		return -EEXIST;
	if (is_dead(dir))
		return -ENOENT;
	return inode_permission(dir, MAY_WRITE | MAY_EXEC);
}

int may_delete(struct inode *dir, const struct dentry *dentry, umode_t mode)
{
	const struct inode *inode = dentry->inode;

	lockdep_assert_held(&dir->lock);
	if (!inode)
		return -ENOENT;
	TRY(inode_permission(dir, MAY_WRITE | MAY_EXEC));
	if ((dir->attributes | inode->attributes) & FS_KEPT_FL) /* immutable ones end above */
		return -EPERM;
	if ((dir->mode & S_ISVTX) && !owner_or_root(inode) && !owner_or_root(dir))
		return -EPERM;
#ifdef CONFIG_SWAP
	if (READ_ONCE(inode->flags) & I_SWAPFILE)
		return -EPERM;
#endif
	if (S_ISDIR(mode) != S_ISDIR(inode->mode))
		return S_ISDIR(mode) ? -ENOTDIR : -EISDIR;
	if (dentry->parent == dentry)
		return -EBUSY;
	return is_dead(dir) ? -ENOENT : 0;
}

umode_t mode_unprivileged(const struct inode *inode, umode_t mode)
{
	const struct cred *cred = current->cred;
	bool locking = !(mode & S_IXGRP) && (!cred->euid || in_group(cred, inode->gid));

	mode &= ~(umode_t)S_ISUID;
	if (!locking)
		mode &= ~(umode_t)S_ISGID;
	return mode;
}

void inode_init_owner(struct inode *inode, const struct inode *dir, umode_t mode)
{
	inode->uid = current->cred->euid;
	inode->gid = current->cred->egid;
	inode->mode = mode;
	if (dir)
		inode->attributes = dir->attributes & FS_INHERITED_FL;
	if (dir && (dir->mode & S_ISGID)) {
		inode->gid = dir->gid;
		if (S_ISDIR(mode))
			inode->mode |= S_ISGID;
	}
}

/* ---- programs and writers -------------------------------------------------------------------- */

/* inode->writers: opens for writing count up, running programs down, and exclude each other. */

int get_write_access(struct inode *inode)
{
	guard(spinlock, &inode->spin);
	if (inode->writers < 0)
		return -ETXTBSY;
	inode->writers++;
	return 0;
}

void put_write_access(struct inode *inode)
{
	guard(spinlock, &inode->spin);
	inode->writers--;
}

int deny_write_access(struct inode *inode)
{
	guard(spinlock, &inode->spin);
	if (inode->writers > 0)
		return -ETXTBSY;
	inode->writers--;
	return 0;
}

void allow_write_access(struct inode *inode)
{
	guard(spinlock, &inode->spin);
	inode->writers++;
}
