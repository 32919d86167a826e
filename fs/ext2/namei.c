/*
 * namei.c - names: lookup, and the operations that make, remove and move them. See ext2.h.
 *
 * All run under the directories' inode->lock; the VFS has checked permissions and existence. A
 * directory has one name, and its ".." must say in which directory: lookup checks that, so that
 * directories which lie in a circle on a damaged disk are not reachable.
 */
#include "fs/ext2/ext2.h"
#include "kernel/core/string.h"

/* ---- lookup ---------------------------------------------------------------------------------- */

/* Is @inode, a directory in the same one as @dentry, known under another name already? Two dentries
 * would be two ways to one lock. */
static bool has_other_name(struct dentry *dentry, const struct inode *inode)
{
	struct dentry *parent = dentry->parent, *other;
	bool found = false;

	if (atomic_read(&inode->refcount) == 1)
		return false; /* no other dentry can have it */
	spin_lock(&parent->lock);
	list_for_each_entry(other, &parent->children, child_link)
		found |= other->inode == inode && !(other->flags & D_UNHASHED);
	spin_unlock(&parent->lock);
	return found;
}

/* May @inode be found under @dentry's name in @dir? */
static int check_child(struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	u32 parent;
	int error;

	if (!S_ISDIR(inode->mode))
		return 0;
	if (has_other_name(dentry, inode))
		return ext2_error(EXT2_FS(dir->sb), "directory %llu has two names",
				  (unsigned long long)inode->number);
	if (inode == dir || inode->number == EXT2_ROOT_INODE)
		return ext2_error(EXT2_FS(dir->sb), "directory %llu is its own ancestor",
				  (unsigned long long)inode->number);
	error = ext2_parent_number(inode, &parent);
	if (!error && parent != dir->number)
		error = ext2_error(
			EXT2_FS(dir->sb), "directory %llu lies in %llu, but its '..' is %u",
			(unsigned long long)inode->number, (unsigned long long)dir->number, parent);
	return error;
}

static int ext2_lookup(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = NULL;
	u32 number;
	int error;

	if (dentry->name_length > EXT2_NAME_MAX)
		return -ENAMETOOLONG;
	error = ext2_find_entry(dir, dentry->name, dentry->name_length, &number);
	if (error)
		return error;
	if (number) {
		inode = ext2_iget(dir->sb, number);
		if (IS_ERR(inode))
			return (int)PTR_ERR(inode);
		error = check_child(dir, dentry, inode);
		if (error) {
			iput(inode);
			return error;
		}
	}
	d_add(dentry, inode);
	return 0;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void touch(struct inode *inode)
{
	inode->ctime = current_time();
	mark_inode_dirty(inode);
}

static void drop_nlink(struct inode *inode)
{
	if (inode->nlink)
		inode->nlink--;
	touch(inode);
}

/* Give up a new inode: its last reference frees it on the disk as well. */
static int discard(struct inode *inode, int error)
{
	inode->nlink = 0;
	mark_inode_dirty(inode);
	iput(inode);
	return error;
}

static int add_name(struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	return ext2_add_entry(dir, dentry->name, dentry->name_length, inode);
}

/* The last step of making an object: its name. */
static int finish(struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	int error = add_name(dir, dentry, inode);

	if (error)
		return discard(inode, error);
	d_instantiate(dentry, inode);
	return 0;
}

static int ext2_create(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	struct inode *inode = ext2_new_inode(dir, (mode & S_IALLUGO) | S_IFREG);

	return IS_ERR(inode) ? (int)PTR_ERR(inode) : finish(dir, dentry, inode);
}

static int ext2_mknod(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev)
{
	struct inode *inode = ext2_new_inode(dir, mode);

	if (IS_ERR(inode))
		return (int)PTR_ERR(inode);
	if (!S_ISREG(mode)) {
		init_special_inode(inode, inode->mode, rdev);
		mark_inode_dirty(inode);
	}
	return finish(dir, dentry, inode);
}

static int ext2_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	struct inode *inode;
	int error;

	if (strlen(target) >= dir->sb->block_size)
		return -ENAMETOOLONG;
	inode = ext2_new_inode(dir, S_IFLNK | S_IRWXUGO);
	if (IS_ERR(inode))
		return (int)PTR_ERR(inode);
	error = ext2_write_symlink(inode, target);
	return error ? discard(inode, error) : finish(dir, dentry, inode);
}

static int ext2_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = old->inode;
	int error;

	if (inode->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	error = add_name(dir, dentry, inode);
	if (error)
		return error;
	inode->nlink++;
	touch(inode);
	ihold(inode);
	d_instantiate(dentry, inode);
	return 0;
}

static int ext2_mkdir(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	struct inode *inode;
	int error;

	if (dir->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	inode = ext2_new_inode(dir, (mode & S_IALLUGO) | S_IFDIR);
	if (IS_ERR(inode))
		return (int)PTR_ERR(inode);
	error = ext2_make_empty(inode, dir);
	if (error)
		return discard(inode, error);
	error = add_name(dir, dentry, inode);
	if (error)
		return discard(inode, error);
	inode->nlink = 2;
	mark_inode_dirty(inode);
	dir->nlink++; /* its ".." */
	mark_inode_dirty(dir);
	d_instantiate(dentry, inode);
	return 0;
}

/* ---- removing -------------------------------------------------------------------------------- */

static int ext2_unlink(struct inode *dir, struct dentry *dentry)
{
	int error = ext2_delete_entry(dir, dentry->name, dentry->name_length);

	if (error)
		return error;
	drop_nlink(dentry->inode);
	return 0;
}

static int ext2_rmdir(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = dentry->inode;
	int error = ext2_empty_dir(inode);

	if (!error)
		error = ext2_delete_entry(dir, dentry->name, dentry->name_length);
	if (error)
		return error;
	inode->nlink = 0;
	touch(inode);
	drop_nlink(dir);
	return 0;
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* @inode, a directory, has moved from @from to @to. */
static int move_parent(struct inode *inode, struct inode *from, struct inode *to)
{
	int error = ext2_set_entry(inode, "..", 2, to);

	if (error)
		return error;
	drop_nlink(from);
	to->nlink++;
	mark_inode_dirty(to);
	return 0;
}

/* Before anything changes: is what will be changed there, and can it be read? */
static int must_find(struct inode *dir, struct dentry *dentry, bool moves)
{
	u32 number;
	int error = ext2_find_entry(dir, dentry->name, dentry->name_length, &number);

	if (!error && number != dentry->inode->number)
		error = ext2_error(EXT2_FS(dir->sb), "directory %llu has lost a name",
				   (unsigned long long)dir->number);
	if (!error && moves)
		error = ext2_parent_number(dentry->inode, &number);
	return error;
}

static int exchange(struct inode *old_dir, struct dentry *old, struct inode *new_dir,
		    struct dentry *new)
{
	struct inode *a = old->inode, *b = new->inode;
	int error = must_find(new_dir, new, S_ISDIR(b->mode) && old_dir != new_dir);

	if (!error)
		error = ext2_set_entry(new_dir, new->name, new->name_length, a);
	if (!error)
		error = ext2_set_entry(old_dir, old->name, old->name_length, b);
	if (!error && old_dir != new_dir && S_ISDIR(a->mode))
		error = move_parent(a, old_dir, new_dir);
	if (!error && old_dir != new_dir && S_ISDIR(b->mode))
		error = move_parent(b, new_dir, old_dir);
	touch(a);
	touch(b);
	return error;
}

/* The name @new, which names something else, becomes @inode's. */
static int replace(struct inode *new_dir, struct dentry *new, struct inode *inode)
{
	struct inode *victim = new->inode;
	int error = 0;

	if (S_ISDIR(inode->mode))
		error = ext2_empty_dir(victim);
	if (!error)
		error = ext2_set_entry(new_dir, new->name, new->name_length, inode);
	if (error)
		return error;
	if (S_ISDIR(victim->mode)) {
		victim->nlink = 0;
		drop_nlink(new_dir);
	} else if (victim->nlink) {
		victim->nlink--;
	}
	touch(victim);
	return 0;
}

static int ext2_rename(struct inode *old_dir, struct dentry *old, struct inode *new_dir,
		       struct dentry *new, unsigned flags)
{
	struct inode *inode = old->inode;
	bool directory = S_ISDIR(inode->mode), moves = directory && old_dir != new_dir;
	int error = must_find(old_dir, old, moves);

	if (error)
		return error;
	if (flags & RENAME_EXCHANGE)
		return exchange(old_dir, old, new_dir, new);
	if (moves && !new->inode && new_dir->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	error = new->inode ? replace(new_dir, new, inode) : add_name(new_dir, new, inode);
	if (error)
		return error;
	error = ext2_delete_entry(old_dir, old->name, old->name_length);
	if (!error && moves)
		error = move_parent(inode, old_dir, new_dir);
	touch(inode);
	return error;
}

const struct inode_operations ext2_dir_inode_operations = {
	.lookup = ext2_lookup,
	.create = ext2_create,
	.mkdir = ext2_mkdir,
	.mknod = ext2_mknod,
	.symlink = ext2_symlink,
	.link = ext2_link,
	.unlink = ext2_unlink,
	.rmdir = ext2_rmdir,
	.rename = ext2_rename,
	.setattr = ext2_setattr,
};

const struct inode_operations ext2_special_inode_operations = {
	.setattr = ext2_setattr,
};
