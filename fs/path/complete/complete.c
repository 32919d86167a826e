/* complete.c - which names of a directory are in the dentry cache, and where. See complete.h. */
#include "fs/path/dcache.h"

/* ---- positions ------------------------------------------------------------------------------- */

void set_position(struct dentry *dentry, loff_t position)
{
	struct dentry *dir = dentry->parent;

	lockdep_assert_held(&dir->inode->lock);
	if (dentry->cookie == (u64)position)
		return;
	guard(spinlock, &dir->lock);
	child_unlink(dentry, dir);

	struct list_head *at = dir->children.prev, *before = &dir->children;

	if (position && dir->next_child && dir->next_child->cookie > (u64)position)
		at = &dir->next_child->child_link;
	for (; position && at != &dir->children; before = at, at = at->prev)
		if (list_entry(at, struct dentry, child_link)->cookie <= (u64)position)
			break;
	if (!position)
		at = &dir->children; /* what is not in the order comes first */
	else if (before != &dir->children) /* the next new name may come behind this one */
		dir->next_child = list_entry(before, struct dentry, child_link);
	dentry->cookie = (u64)position;
	list_add(&dentry->child_link, at);
}

void child_placed(struct dentry *dentry, u32 block, u32 offset)
{
	const struct dentry *dir = dentry->parent;

	lockdep_assert_held(&dir->inode->lock);
	if (dir->dotdot)
		set_position(dentry, (loff_t)block * dir->inode->sb->block_size + offset);
}

void d_move_child(struct dentry *dentry, struct dentry *target, unsigned flags)
{
	loff_t from = (loff_t)dentry->cookie, to = (loff_t)target->cookie;

	d_move(dentry, target, flags);
	dentry->listed = target->listed = 0; /* they have other names */
	if (!dentry->parent->dotdot)
		return;
	set_position(dentry, 0);
	set_position(target, 0);
	set_position(dentry, to);
	if (flags & RENAME_EXCHANGE)
		set_position(target, from);
}

/* ---- what is known --------------------------------------------------------------------------- */

void d_instantiate_new(struct dentry *dentry, struct inode *inode, u8 dotdot)
{
	lockdep_assert_held(&dentry->parent->inode->lock);
	dentry_forget_children(dentry);
	if (S_ISDIR(inode->mode)) {
		dentry->dotdot = dotdot;
		dentry->known_to = KNOWN_ALL;
	}
	d_instantiate(dentry, inode);
}

void child_lost(struct dentry *dentry)
{
	struct dentry *dir = dentry->parent;

	lockdep_assert_held(&dentry_tree_lock);
	if (!dentry->inode && !d_is_numbered(dentry))
		return; /* what it says holds without it, too */
	if (!dir->dotdot)
		return;
	guard(spinlock, &dir->lock);
	dentry->listed = 0;
	dir->known_to = 0;
	if (dir->filling)
		dir->filling |= LOST;
}

/* ---- lookup ---------------------------------------------------------------------------------- */

/* It is no more numbered: it has its inode. */
static void link_inode(struct dentry *dentry, struct inode *inode)
{
	u32 bucket = dentry_bucket(dentry->parent, dentry->name_hash);

	changes_begin(dentry);
	smp_store_release(&dentry->inode, inode);
	dentry_table_lock(&dentry_table_instance, NULL, bucket);
	/* D_MOUNTED has another lock. Who sees the flag gone sees the inode. */
	__atomic_fetch_and(&dentry->flags, (u8)~D_NUMBERED, __ATOMIC_RELEASE);
	dentry_table_unlock(&dentry_table_instance, NULL, bucket);
	changes_end(dentry);
	notify_inherit(dentry->parent->inode, inode);
}

void d_add_found(struct dentry *dentry, struct inode *inode, u8 dotdot)
{
	bool numbered = d_is_numbered(dentry);

	lockdep_assert_held(&dentry->parent->inode->lock);
	dentry_forget_children(dentry);
	if (inode && S_ISDIR(inode->mode))
		dentry->dotdot = dotdot;
	if (numbered)
		link_inode(dentry, inode);
	else
		d_add(dentry, inode);
}

struct dentry *cached_name(struct inode *dir, struct dentry *dentry)
{
	lockdep_assert_held(&dir->lock);
	if (likely(!d_is_numbered(dentry)))
		return dentry;
	int error = dir->op->lookup(dir, dentry);
	if (!error)
		return dentry;
	dput(dentry);
	return ERR_PTR(error);
}

int lookup_uncached(struct inode *dir, struct dentry *dentry)
{
	lockdep_assert_held(&dir->lock);
	if (READ_ONCE(dentry->parent->known_to) != KNOWN_ALL)
		return dir->op->lookup(dir, dentry);
#ifdef CONFIG_DEBUG
	TRY(dir->op->lookup(dir, dentry)); /* is it so? */
	BUG_ON(dentry->inode);
#else
	d_add(dentry, NULL);
#endif
	return 0;
}
