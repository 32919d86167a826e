/*
 * rbtree_link.h - what a page in a red-black tree embeds, and the tree itself in the mapping that
 * owns it.
 */
#pragma once

#include "core/base/list.h"
#include "core/lock/spinlock.h"

struct rbtree_link {
	struct rbtree_link *child[2]; /* smaller, larger */
	unsigned level;		      /* see rbtree.h */
};

struct rbtree_root {
	spinlock_t lock; /* guards the tree */
	struct rbtree_link *node;
	u64 count;
	struct list_head link; /* in the table's list while there are objects; its list_lock */
};
