/* below.h - all that is cached below a directory, for whoever keeps something of whole paths. */
#pragma once

#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/dcache.h"

/* Told of @child, whose directory is @parent and locked. Must not sleep. */
typedef void visit_below(struct dentry *child, const struct dentry *parent, void *context);

/*
 * @visit all that is cached below @top, which cannot be moved, nor can what lies there, since
 * dentry_tree_lock is held. It can be freed, if it was removed: but its memory stays as long as
 * this CPU does nothing else (rcu.h), and its child_link says so. Some may be visited twice. Takes
 * the lock of each directory; does not sleep.
 */
static __always_inline void visit_all_below(struct dentry *top, visit_below *visit, void *context)
{
	struct dentry *parent = top, *child;
	struct list_head *link;

	lockdep_assert_held(&dentry_tree_lock);
	spin_lock(&parent->lock);
	link = parent->children.next;
	for (;;) {
		while (link != &parent->children) {
			child = list_entry(link, struct dentry, child_link);
			visit(child, parent, context);
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

#endif
