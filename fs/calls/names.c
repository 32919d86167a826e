/*
 * names.c - the calls that make, link, remove and rename names, and read a symbolic link.
 *
 * Each walks to the directory of the last component and has names.c of fs/path do the work there.
 */
#include "fs/calls/calls.h"
#include "fs/inode/times.h"
#include "core/memory/slab.h"

/* One name in one directory. */
struct name_at {
	struct path_name text;
	struct path parent; /* referenced */
	struct last last;
};

static int name_at_get(struct name_at *at, int dfd, const char __user *name)
{
	at->parent.mount = NULL;
	TRY(path_name_get(&at->text, name));
	return path_parent(dfd, at->text.text, &at->last, &at->parent);
}

DEFINE_FREE(name_at, struct name_at, if (variable->parent.mount) path_put(&variable->parent);
	    __free_name(&variable->text))

/* ---- new names ------------------------------------------------------------------------------- */

static int make_name(int dfd, const char __user *name, struct new_name *new)
{
	struct path_name text __free(name);
	struct path path __free(path) = {0};

	TRY(path_name_get(&text, name));
	TRY(path_lookup(dfd, text.text, LOOKUP_EXCLUSIVE, new, &path));
	return new->made ? 0 : -EEXIST;
}

s64 sys_mkdirat(int dfd, const char *name, umode_t mode)
{
	struct new_name new = {.mode = S_IFDIR | (mode & (S_IRWXUGO | S_ISVTX))};

	return make_name(dfd, name, &new);
}

s64 sys_mknodat(int dfd, const char *name, umode_t mode, u32 device)
{
	const unsigned types =
		1 << DT_REG | 1 << DT_CHR | 1 << DT_BLK | 1 << DT_FIFO | 1 << DT_SOCK;
	struct new_name new = {.mode = (u16)mode | (mode & S_IFMT ? 0 : S_IFREG), .rdev = device};

	/* The ABI's number has the minor's upper bits at bit 20; ours are below 256. */
	if (device >> 20)
		return -EINVAL;
	if (!(1u << S_DT(new.mode) & types))
		return S_ISDIR(mode) ? -EPERM : -EINVAL;
	return make_name(dfd, name, &new);
}

s64 sys_symlinkat(const char *target, int dfd, const char *name)
{
	struct path_name text __free(name);

	TRY(path_name_get(&text, target));
	struct new_name new = {.mode = S_IFLNK | 0777, .target = text.text};
	if (*text.text)
		return make_name(dfd, name, &new);
	return -ENOENT;
}

s64 sys_linkat(int old_dfd, const char *old_name, int new_dfd, const char *name, int flags)
{
	struct path old __free(path) = {0};
	struct new_name new = {.old = &old};

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if ((flags & AT_EMPTY_PATH) && !capable(current->cred))
		return -ENOENT;
	TRY(user_path_at(old_dfd, old_name, (unsigned)flags, &old)); /* as LOOKUP_* */
	return make_name(new_dfd, name, &new);
}

/* ---- names that are there -------------------------------------------------------------------- */

/* Why a last component that is no name cannot be removed. */
static int not_a_name(enum last_type type, enum removed_kind kind)
{
	if (kind == REMOVE_FILE)
		return -EISDIR;
	if (type == LAST_ROOT)
		return -EBUSY;
	return type == LAST_DOT ? -EINVAL : -ENOTEMPTY;
}

s64 sys_unlinkat(int dfd, const char *name, int flags)
{
	enum removed_kind kind = flags & AT_REMOVEDIR ? REMOVE_DIRECTORY : REMOVE_FILE;

	if (flags & ~AT_REMOVEDIR)
		return -EINVAL;
	struct name_at at __free(name_at);
	TRY(name_at_get(&at, dfd, name));
	if (at.last.type != LAST_NORM)
		return not_a_name(at.last.type, kind);
	struct mount *written __free(mount_drop_write) = TRY_PTR(mount_want_write(at.parent.mount));
	struct inode *gone __free(removed) = NULL; /* behind the lock, before the mount is let go */
	struct inode *dir = at.parent.dentry->inode;
	guard(parent, dir);
	struct dentry *dentry __free(dput) =
		TRY_PTR(lookup_locked(at.parent.dentry, &at.last.name, FIRST_LOOK));
	struct inode *inode = dentry->inode;
	if (!inode)
		return -ENOENT;
	if (at.last.trailing_slash && kind == REMOVE_FILE)
		return S_ISDIR(inode->mode) ? -EISDIR : -ENOTDIR;
	ihold(gone = inode);
	return remove_locked(dir, dentry, kind);
}

s64 sys_renameat2(int old_dfd, const char *old, int new_dfd, const char *new, u32 flags)
{
	const u32 both = RENAME_NOREPLACE | RENAME_EXCHANGE;

	if ((flags & ~both) || flags == both)
		return -EINVAL;
	struct name_at from __free(name_at);
	TRY(name_at_get(&from, old_dfd, old));
	struct name_at to __free(name_at);
	TRY(name_at_get(&to, new_dfd, new));
	if (from.parent.mount != to.parent.mount)
		return -EXDEV;
	if (from.last.type != LAST_NORM)
		return -EBUSY;
	if (to.last.type != LAST_NORM)
		return flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	struct mount *written __free(mount_drop_write) =
		TRY_PTR(mount_want_write(from.parent.mount));
	return rename_names(from.parent.dentry, &from.last, to.parent.dentry, &to.last, flags);
}

s64 sys_readlinkat(int dfd, const char *name, char *buffer, int size)
{
	struct path path __free(path) = {0};
	char *copy __free(kfree) = NULL;
	char first = 0;

	if (size <= 0)
		return -EINVAL;
	TRY(user_path_at(dfd, name, LOOKUP_EMPTY, &path));
	struct inode *inode = path.dentry->inode;
	if (!S_ISLNK(inode->mode))
		return (get_user(first, name) || first) ? -EINVAL : -ENOENT;
	const char *text = inode->link;
	if (!text)
		text = copy = TRY_PTR(inode->op->get_link(inode));
	touch_inode_atime(inode, path.mount);
	s64 result = (s64)min(strlen(text), (size_t)size);
	return copy_to_user(buffer, text, (size_t)result) ? -EFAULT : result;
}
