/* changes.c - direct lookup: what is done before the tree is changed. See direct.h. */
#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/direct/find.h"
#include "fs/path/siblings/siblings.h"

struct direct_changes direct_changes;

/* What direct_change_begin() does to one of those below, a child of @parent. */
static void change_one(struct dentry *dentry, const struct dentry *parent, enum direct_kind kind)
{
	for (unsigned place = 0; place < CONFIG_DIRECT_PATHS; place++) {
		struct direct_entry *entry = READ_ONCE(dentry->direct[place]);

		if (entry && kind == DIRECT_PLACE)
			direct_void(entry);
		else if (entry)
			direct_renew(entry, siblings_version(parent, entry));
	}
	if (kind == DIRECT_RIGHTS)
		siblings_renew(dentry); /* though it may have no names in the cache now */
}

/*
 * All that is cached below @top, which cannot be moved, nor can what lies there, since
 * dentry_tree_lock is held. It can be freed, if it was removed: but its memory stays as long as
 * this CPU does nothing else (rcu.h), and its child_link says so.
 */
static void change_below(struct dentry *top, enum direct_kind kind, bool *mounts)
{
	struct dentry *parent = top, *child;
	struct list_head *link;

	lockdep_assert_held(&dentry_tree_lock);
	siblings_renew(top);
	spin_lock(&parent->lock);
	link = parent->children.next;
	for (;;) {
		while (link != &parent->children) {
			child = list_entry(link, struct dentry, child_link);
			change_one(child, parent, kind);
			*mounts |= READ_ONCE(child->flags) & D_MOUNTED;
			link = link->next;
			if (list_empty(&child->children))
				continue;
			spin_unlock(&parent->lock); /* down */
			parent = child;
			spin_lock(&parent->lock);
			link = parent->children.next;
		}
		spin_unlock(&parent->lock);
		if (parent == top)
			return;
		child = parent; /* up, and on behind it, or once more from the start if it is gone
				 */
		parent = child->parent;
		spin_lock(&parent->lock);
		link = child->child_link.next ?: parent->children.next;
	}
}

void direct_change_begin(struct dentry *dentry, enum direct_kind kind)
{
	bool mounts = false;

	if (!dentry)
		return;
	atomic_inc(&direct_changes.begun);
	smp_mb(); /* who has not seen that remembers what is given up now */
	spin_lock(&dentry_tree_lock);
	change_below(dentry, kind, &mounts);
	spin_unlock(&dentry_tree_lock);
	if (mounts)
		mounts_have_moved(); /* not only what is mounted below is void then: all is */
}

void direct_change_end(struct dentry *dentry)
{
	if (!dentry)
		return;
	smp_mb();
	atomic_inc(&direct_changes.ended);
}

#ifdef CONFIG_SECURITY_LABELS
void direct_change_all_begin(bool *change)
{
	if (!*change)
		return;
	atomic_inc(&direct_changes.begun);
	smp_mb(); /* as above */
	mounts_have_moved();
}

void direct_change_all_end(bool *change)
{
	if (!*change)
		return;
	smp_mb();
	atomic_inc(&direct_changes.ended);
}
#endif

#endif
