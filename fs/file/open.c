/*
 * open.c - opening a file by its name: permission, O_CREAT, O_EXCL, O_TRUNC. See open.h.
 */
#include "fs/file/open.h"
#include "fs/inode/attributes.h"
#include "fs/inode/permission.h"
#include "fs/path/namei.h"

/* May what @path leads to be opened so? */
static int may_open(const struct path *path, int flags)
{
	static const u8 masks[4] = {[O_RDONLY] = MAY_READ,
				    [O_WRONLY] = MAY_WRITE,
				    [O_RDWR] = MAY_READ | MAY_WRITE,
				    [O_ACCMODE] = MAY_READ | MAY_WRITE};
	struct inode *inode = path->dentry->inode;
	umode_t mode = inode->mode;
	int mask = masks[flags & O_ACCMODE];

	if (flags & O_TRUNC)
		mask |= MAY_WRITE;
	if (S_ISLNK(mode))
		return -ELOOP;
	if (S_ISDIR(mode) && (mask & MAY_WRITE))
		return -EISDIR;
	if ((S_ISBLK(mode) || S_ISCHR(mode)) &&
	    ((path->mount->flags | inode->sb->flags) & SB_NODEV))
		return -EACCES;
	if ((flags & O_TRUNC) && S_ISREG(mode))
		TRY(mount_writable(path->mount));
	TRY(inode_permission(inode, mask));
	if ((flags & O_NOATIME) && current->cred->euid != inode->uid && current->cred->euid != 0)
		return -EPERM;
	if ((mask & MAY_WRITE) && S_ISREG(mode))
		return mount_writable(path->mount);
	return 0;
}

int open_at(int dfd, const char *name, int flags, umode_t mode, struct file **opened)
{
	bool exclusive = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	unsigned lookup = exclusive || (flags & O_NOFOLLOW) ? 0 : LOOKUP_FOLLOW;
	struct new_name new = {.mode = (mode & S_IALLUGO) | S_IFREG};
	struct path path __free(path) = {0};

	TRY(path_lookup(dfd, name, lookup, flags & O_CREAT ? &new : NULL, NULL, &path));
	struct inode *inode = path.dentry->inode;
	if (!new.made && (flags & O_CREAT) && ((flags & O_EXCL) || S_ISDIR(inode->mode)))
		return flags & O_EXCL ? -EEXIST : -EISDIR;
	if ((flags & O_DIRECTORY) && !S_ISDIR(inode->mode))
		return -ENOTDIR;
	if (!new.made && !(flags & O_PATH))
		TRY(may_open(&path, flags));
	struct file *file __free(fput) = TRY_PTR(file_open_path(&path, (u32)flags));
	if (!new.made && (flags & O_TRUNC) && S_ISREG(inode->mode))
		TRY(do_truncate(path.dentry, 0, TOUCH_ALWAYS));
	*opened = file;
	file = NULL;
	return 0;
}

struct file *filp_open(const char *name, int flags, umode_t mode)
{
	struct file *file = NULL;
	int error = open_at(AT_FDCWD, name, flags, mode, &file);

	if (error)
		return ERR_PTR(error);
	return file;
}
