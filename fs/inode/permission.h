/*
 * permission.h - who may do what to an inode. All ask for current, under no lock, but may_create()
 * and may_delete(), which are asked with the directory locked, so that the answer holds.
 */
#pragma once

#include "fs/cred.h"
#include "fs/inode/inode.h"

enum { MAY_EXEC = 1, MAY_WRITE = 2, MAY_READ = 4 };
/* of current's euid, egid, groups; 0 or -EACCES (-EROFS, -EPERM: immutable) */
int inode_permission(struct inode *inode, int mask);
/* Is @inode, with that mode, a directory that everybody may search? One test of it, not two. */
static __always_inline bool is_searchable(const struct inode *inode, umode_t mode)
{
	return (mode & (S_IFMT | S_IXUGO)) == (S_IFDIR | S_IXUGO) && !if_labels(label_bars(inode));
}
/* May a name be looked for in @inode? 0, -ENOTDIR or -EACCES. */
static __always_inline int may_search(struct inode *inode)
{
	umode_t mode = READ_ONCE(inode->mode);

	if (likely(is_searchable(inode, mode)))
		return 0;
	return S_ISDIR(mode) ? inode_permission(inode, MAY_EXEC) : -ENOTDIR;
}
bool is_special(const struct inode *inode); /* writing to it does not change a file system */

bool owner_or_root(const struct inode *inode);
/* May a name be made in @dir? @dentry is what was found under it: 0, -EEXIST, -ENOENT (the
 * directory is gone), -EACCES, -EROFS. */
int may_create(struct inode *dir, const struct dentry *dentry);
/* May @dentry's name be removed from @dir, by who takes it for a directory or for something else
 * (@mode: S_IFDIR or another type)? */
int may_delete(struct inode *dir, const struct dentry *dentry, umode_t mode);
/* What is left of @mode when the current process changes the owner or the contents: set-group-id
 * stays where it means locking and the process is of the group. */
umode_t mode_unprivileged(const struct inode *inode, umode_t mode);

/* Ownership, mode and inherited flags of a new inode in @dir (set-gid directories, umask is already
 * applied). */
void inode_init_owner(struct inode *inode, const struct inode *dir, umode_t mode);
