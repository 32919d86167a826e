/* anonymous.c - files that no directory knows: see anonymous.h. */
#include "fs/anonymous.h"

static const struct super_operations super_operations;
static struct super_block anonymous_super = {
	.op = &super_operations,
	.dev = MKDEV(0, 1),
	.flags = SB_NOATIME,
	.block_size = PAGE_SIZE,
	.active = ATOMIC_INIT(1),
	.dirty = LIST_HEAD_INIT(anonymous_super.dirty),
	.max_bytes = ~0ULL >> 1,
};
NAME_LOCK(anonymous_super, anonymous_super.inodes_lock, "sb->inodes_lock");
static struct mount anonymous_mount = {
	.sb = &anonymous_super,
	.parent = &anonymous_mount,
	.refcount = ATOMIC_INIT(1),
	.children = LIST_HEAD_INIT(anonymous_mount.children),
};

struct dentry *anonymous_dentry(umode_t mode, const struct file_operations *fop)
{
	static atomic_t number;
	struct inode *inode = new_inode(&anonymous_super);
	struct dentry *dentry;

	if (!inode)
		return NULL;
	inode->number = (ino_t)atomic_inc_return(&number);
	inode->mode = mode;
	inode->nlink = 1;
	inode->uid = current->cred->fsuid;
	inode->gid = current->cred->fsgid;
	inode->atime = inode->mtime = inode->ctime = current_time();
	inode->fop = fop;
	dentry = d_alloc_root(inode);
	if (!dentry)
		iput(inode);
	return dentry;
}

void anonymous_open(struct file *file, struct dentry *dentry, unsigned mode, int flags)
{
	file->fop = dentry->inode->fop;
	file->inode = dentry->inode;
	file->path = (struct path){&anonymous_mount, dget(dentry)};
	mntget(&anonymous_mount);
	file->mode = mode;
	file->flags = (u32)flags;
}

bool is_anonymous(const struct dentry *dentry)
{
	return dentry->sb == &anonymous_super;
}

int anonymous_name(const struct dentry *dentry, char *buffer, size_t size)
{
	return S_ISFIFO(dentry->inode->mode) ? snprintf(buffer, size, "pipe:[%llu]",
							(unsigned long long)dentry->inode->number)
					     : snprintf(buffer, size, "anon_inode:[eventfd]");
}
