/*
 * open.c - opening a file by its name: permission, O_CREAT, O_EXCL, O_TRUNC. See open.h.
 */
#include "fs/file/open.h"
#include "fs/inode/attributes.h"
#include "fs/inode/permission.h"
#include "fs/path/namei.h"

/* May what @path leads to be opened so? */
static __always_inline int may_open(const struct path *path, int flags)
{
	static const u8 masks[4] = {[O_RDONLY] = MAY_READ,
				    [O_WRONLY] = MAY_WRITE,
				    [O_RDWR] = MAY_READ | MAY_WRITE,
				    [O_ACCMODE] = MAY_READ | MAY_WRITE};
	struct inode *inode = path->dentry->inode;
	umode_t mode = READ_ONCE(inode->mode);
	int mask = masks[flags & O_ACCMODE];

	if (flags & O_TRUNC)
		mask |= MAY_WRITE;
	if (unlikely(!S_ISREG(mode))) {
		if (S_ISLNK(mode))
			return -ELOOP;
		if (S_ISDIR(mode) && (mask & MAY_WRITE))
			return -EISDIR;
		if ((S_ISBLK(mode) || S_ISCHR(mode)) &&
		    ((path->mount->flags | inode->sb->flags) & SB_NODEV))
			return -EACCES;
	} else if (flags & O_TRUNC) {
		TRY(mount_writable(path->mount));
	}
	TRY(inode_permission(inode, mask));
	if ((flags & O_NOATIME) && current->cred->euid != inode->uid && current->cred->euid != 0)
		return -EPERM;
	if (!(mask & MAY_WRITE))
		return 0;
	if ((inode->attributes & FS_APPEND_FL) && (!(flags & O_APPEND) || (flags & O_TRUNC)))
		return -EPERM;
	return S_ISREG(mode) ? mount_writable(path->mount) : 0;
}

/* O_TMPFILE: a file that is to be in the directory @dir, and has no name. */
static int open_nameless(const struct path *dir, int flags, umode_t mode, struct file **opened)
{
	struct path path __free(path) = {0};

	TRY(make_nameless(dir, mode, &path));
	path.dentry->inode->linkable = !(flags & O_EXCL);
	*opened = TRY_PTR(file_open_path(&path, (u32)flags));
	return 0;
}

/* Inline, as may_open() is: open(2) is made often. */
static __always_inline int open_found(struct path *path, const struct new_name *new,
				      int flags, struct file **opened)
{
	struct inode *inode = path->dentry->inode;

	if (!new->made && (flags & O_CREAT) && ((flags & O_EXCL) || S_ISDIR(inode->mode)))
		return flags & O_EXCL ? -EEXIST : -EISDIR;
	if (flags & O_DIRECTORY) {
		if (!S_ISDIR(inode->mode))
			return -ENOTDIR;
		if (flags & __O_TMPFILE)
			return open_nameless(path, flags, new->mode, opened);
	}
	if (!new->made && !(flags & O_PATH))
		TRY(may_open(path, flags));
	struct file *file __free(fput) = TRY_PTR(file_open_path(path, (u32)flags));
	if (!new->made && (flags & O_TRUNC) && S_ISREG(inode->mode)) {
		struct mount *written __free(mount_drop_write) =
			TRY_PTR(mount_want_write(file->path.mount));
		TRY(truncate_by(file->path.dentry, inode, 0, TOUCH_ALWAYS));
	}
	*opened = file;
	file = NULL;
	return 0;
}

#ifdef CONFIG_OPENAT2
int open_place(struct path *path, const struct new_name *new, int flags, struct file **opened)
{
	return open_found(path, new, flags, opened);
}
#endif

int open_at(int dfd, const char *name, int flags, umode_t mode, struct file **opened)
{
	struct new_name new = {.mode = (mode & S_IALLUGO) | S_IFREG};
	struct path path __free(path) = {0};

	TRY(path_lookup(dfd, name, open_lookup(flags), flags & O_CREAT ? &new : NULL, &path));
	return open_found(&path, &new, flags, opened);
}

struct file *filp_open(const char *name, int flags, umode_t mode)
{
	struct file *file = NULL;
	int error = open_at(AT_FDCWD, name, flags, mode, &file);

	return error ? ERR_PTR(error) : file;
}
