/* below.h - all that is cached below a directory, for whoever keeps something of whole paths. */
#pragma once

#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/dcache.h"

/* Told of @child, whose directory is @parent and locked. Must not sleep. */
typedef void visit_below(struct dentry *child, const struct dentry *parent, void *context);

/*
 * @visit all that is cached below @top, each once and before what is below it. Does not sleep.
 *
 * Nothing there can go to another directory, since dentry_tree_lock is held. But who has only a
 * directory's lock may give a child another place among its children, and if we stand on that
 * child, those behind it are lost to us. So each directory's lock is held until all below it is
 * done, from @top down to where we stand: what we stand on stays where it is, and in memory.
 * Nobody else waits for one such lock with another in his hands. They may be more than the
 * lock-order checker has room for: it knows of the first, for all.
 */
static __always_inline void visit_all_below(struct dentry *top, visit_below *visit, void *context)
{
	struct dentry *parent = top, *child;
	struct list_head *link;

	lockdep_assert_held(&dentry_tree_lock);
	guard(spinlock, &top->lock);
	link = top->children.next;
	for (;;) {
		while (link != &parent->children) {
			child = list_entry(link, struct dentry, child_link);
			visit(child, parent, context);
			link = link->next;
			/* Its children have references to it. An empty list would say nothing: it
			 * is that for a moment, too, while an only child gets another place. */
			if (!dentry_count(child))
				continue;
			parent = child; /* down */
			__spin_lock(&parent->lock);
			link = parent->children.next;
		}
		if (parent == top)
			return;
		__spin_unlock(&parent->lock); /* up, and on behind it */
		link = parent->child_link.next;
		parent = parent->parent;
	}
}

#endif
