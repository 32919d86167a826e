/* negative.c - see negative.h. */
#include "fs/path/dcache.h"

/* An unhashed dentry of the same name in the same directory, or NULL. */
static struct dentry *same_name(const struct dentry *dentry)
{
	return d_alloc_hashed(dentry->parent, dentry->name, dentry->name_length, dentry->name_hash);
}

/* @absent, if it is there, says that there is no such name. */
static void keep_absent(struct dentry *absent)
{
	if (!absent)
		return;
	d_add(absent, NULL);
	dput(absent);
}

void d_delete_name(struct dentry *dentry)
{
	lockdep_assert_held(&dentry->parent->inode->lock);
	d_delete_child(dentry);
	if (READ_ONCE(dentry->flags) & D_UNHASHED) /* it was in use */
		keep_absent(same_name(dentry));
}

void d_move_name(struct dentry *dentry, struct dentry *target, unsigned flags)
{
	struct dentry *absent = flags & RENAME_EXCHANGE ? NULL : same_name(dentry);

	lockdep_assert_held(&dentry->parent->inode->lock);
	d_move_child(dentry, target, flags);
	keep_absent(absent);
}
