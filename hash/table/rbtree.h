/*
 * rbtree.h - no hash table: a red-black tree in each owner (Guibas and Sedgewick 1978), ordered by
 * key.
 *
 * Caches: page
 * Source: Lever 1999, section 3.1, kernel "rbtree" (Arcangeli's patch: each inode keeps its pages
 * in a tree); the algorithms as in Cormen, Leiserson and Rivest, chapter 14. Cost: a lookup visits
 * at most 2 log2(n + 1) of the file's n pages; no contiguous memory, 8 bytes more a page than a
 * chain. Weakness: each step is a branch that nobody can predict and often a cache miss; a large
 * file's tree has one lock. Serves the page cache alone: the other caches' objects have no owner
 * that every lookup knows.
 *
 * Locks: each tree's own, then the list of trees'. Invariants: a red node has no red child; all
 * ways from a node down to where there is none pass the same number of black nodes.
 */
#include "hash/table/template.h"
#include "kernel/core/list.h"
#include "kernel/core/printk.h"

struct TABLE {
	spinlock_t list_lock;	/* guards: */
	struct list_head roots; /* trees with objects */
};

static __always_inline void T(root_init)(struct T(root) * root)
{
	spin_lock_init(&root->lock, TABLE_STRING(TABLE) "_root");
	root->node = NULL;
	root->count = 0;
}

static __always_inline void T(lock)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	(void)table, (void)bucket;
	spin_lock(&root->lock);
}

static __always_inline void T(unlock)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	(void)table, (void)bucket;
	spin_unlock(&root->lock);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static inline struct rbtree_link *T(parent)(const struct rbtree_link *node)
{
	return (struct rbtree_link *)(node->parent & ~(uintptr_t)1);
}

static inline bool T(is_red)(const struct rbtree_link *node)
{
	return node && node->parent & 1;
}

static inline void T(paint)(struct rbtree_link *node, bool red)
{
	node->parent = (node->parent & ~(uintptr_t)1) | red;
}

static inline void T(set_parent)(struct rbtree_link *node, struct rbtree_link *parent)
{
	if (node)
		node->parent = (uintptr_t)parent | (node->parent & 1);
}

/* @new (may be NULL) takes the place of @old under its parent. */
static inline void T(replace)(struct T(root) * root, struct rbtree_link *old,
			      struct rbtree_link *new)
{
	struct rbtree_link *parent = T(parent)(old);

	if (parent)
		parent->child[parent->child[1] == old] = new;
	else
		root->node = new;
	T(set_parent)(new, parent);
}

/* @node goes down to @side; its child on the other side comes up. */
static void T(rotate)(struct T(root) * root, struct rbtree_link *node, int side)
{
	struct rbtree_link *up = node->child[!side];

	node->child[!side] = up->child[side];
	T(set_parent)(up->child[side], node);
	T(replace)(root, node, up);
	up->child[side] = node;
	T(set_parent)(node, up);
}

/* ---- find, insert, remove -------------------------------------------------------------------- */

/* *steps grows by the nodes visited, the one found included. */
static __always_inline TABLE_OBJECT *T(find)(
	struct TABLE *table, struct T(root) * root, u32 bucket, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), u64 *steps)
{
	struct rbtree_link *node = root->node;

	(void)table, (void)bucket;
	while (node) {
		TABLE_OBJECT *object = container_of(node, TABLE_OBJECT, TABLE_LINK);
		int order = compare(object, key);

		++*steps;
		if (order == 0)
			return object;
		node = node->child[order < 0];
	}
	return NULL;
}

static void T(balance_inserted)(struct T(root) * root, struct rbtree_link *node)
{
	struct rbtree_link *parent;

	while ((parent = T(parent)(node)) && T(is_red)(parent)) {
		struct rbtree_link *grandparent = T(parent)(parent);
		int side = parent == grandparent->child[1];
		struct rbtree_link *uncle = grandparent->child[!side];

		T(paint)(grandparent, true);
		if (T(is_red)(uncle)) {
			T(paint)(parent, false);
			T(paint)(uncle, false);
			node = grandparent;
			continue;
		}
		if (node == parent->child[!side]) {
			T(rotate)(root, parent, side);
			parent = node;
		}
		T(paint)(parent, false);
		T(rotate)(root, grandparent, !side);
		break;
	}
	T(paint)(root->node, false);
}

static __always_inline void T(insert)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object, const TABLE_KEY *key,
				      int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *))
{
	struct rbtree_link *node = &object->TABLE_LINK, *parent = NULL, **place = &root->node;

	(void)bucket;
	while (*place) {
		parent = *place;
		place = &parent->child[compare(container_of(parent, TABLE_OBJECT, TABLE_LINK),
					       key) < 0];
	}
	node->child[0] = node->child[1] = NULL;
	node->parent = (uintptr_t)parent | 1;
	*place = node;
	T(balance_inserted)(root, node);
	if (root->count++ == 0) {
		spin_lock(&table->list_lock);
		list_add(&root->link, &table->roots);
		spin_unlock(&table->list_lock);
	}
}

/* A black node is missing above @node (which may be NULL), a child of @parent. */
static void T(balance_removed)(struct T(root) * root, struct rbtree_link *parent,
			       struct rbtree_link *node)
{
	while (node != root->node && !T(is_red)(node)) {
		int side = parent->child[1] == node;
		struct rbtree_link *sibling = parent->child[!side];

		if (T(is_red)(sibling)) {
			T(paint)(sibling, false);
			T(paint)(parent, true);
			T(rotate)(root, parent, side);
			sibling = parent->child[!side];
		}
		if (!T(is_red)(sibling->child[0]) && !T(is_red)(sibling->child[1])) {
			T(paint)(sibling, true);
			node = parent;
			parent = T(parent)(node);
			continue;
		}
		if (!T(is_red)(sibling->child[!side])) {
			T(paint)(sibling->child[side], false);
			T(paint)(sibling, true);
			T(rotate)(root, sibling, !side);
			sibling = parent->child[!side];
		}
		T(paint)(sibling, T(is_red)(parent));
		T(paint)(parent, false);
		T(paint)(sibling->child[!side], false);
		T(rotate)(root, parent, side);
		node = root->node;
	}
	if (node)
		T(paint)(node, false);
}

/* @node has two children: the next larger one takes its place. Where a node is missing now: its
 * child there. */
static inline struct rbtree_link *T(take_out_inner)(struct T(root) * root, struct rbtree_link *node,
						    struct rbtree_link **parent, bool *red)
{
	struct rbtree_link *next = node->child[1], *child;

	while (next->child[0])
		next = next->child[0];
	child = next->child[1];
	*parent = T(parent)(next);
	*red = T(is_red)(next);
	if (*parent == node) {
		*parent = next;
	} else {
		T(replace)(root, next, child);
		next->child[1] = node->child[1];
		T(set_parent)(next->child[1], next);
	}
	next->child[0] = node->child[0];
	T(set_parent)(next->child[0], next);
	T(replace)(root, node, next);
	T(paint)(next, T(is_red)(node));
	return child;
}

static inline void T(remove)(struct TABLE *table, struct T(root) * root, u32 bucket,
			     TABLE_OBJECT *object)
{
	struct rbtree_link *node = &object->TABLE_LINK, *child, *parent = T(parent)(node);
	bool red = T(is_red)(node);

	(void)bucket;
	if (node->child[0] && node->child[1]) {
		child = T(take_out_inner)(root, node, &parent, &red);
	} else {
		child = node->child[!node->child[0]];
		T(replace)(root, node, child);
	}
	if (!red)
		T(balance_removed)(root, parent, child);
	if (--root->count == 0) {
		spin_lock(&table->list_lock);
		list_del(&root->link);
		spin_unlock(&table->list_lock);
	}
}

/* ---- walking --------------------------------------------------------------------------------- */

static inline TABLE_OBJECT *T(outermost)(struct rbtree_link *node, int side)
{
	while (node && node->child[side])
		node = node->child[side];
	return node ? container_of(node, TABLE_OBJECT, TABLE_LINK) : NULL;
}

/* In the order of the keys. */
static inline TABLE_OBJECT *T(first)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	(void)table, (void)bucket;
	return T(outermost)(root->node, 0);
}

static inline TABLE_OBJECT *T(next)(struct TABLE *table, struct T(root) * root,
				    TABLE_OBJECT *object)
{
	struct rbtree_link *node = &object->TABLE_LINK, *parent;

	(void)table, (void)root;
	if (node->child[1])
		return T(outermost)(node->child[1], 0);
	while ((parent = T(parent)(node)) && node == parent->child[1])
		node = parent;
	return parent ? container_of(parent, TABLE_OBJECT, TABLE_LINK) : NULL;
}

/* For the statistics: visit the size of every tree that has objects. */
static void T(walk)(void *instance, void (*visit)(u64 size, void *argument), void *argument)
{
	struct TABLE *table = instance;
	struct T(root) * root;

	spin_lock(&table->list_lock);
	list_for_each_entry (root, &table->roots, link)
		visit(READ_ONCE(root->count), argument);
	spin_unlock(&table->list_lock);
}

/* At boot, before anyone uses the table. */
static inline void T(create)(struct TABLE *table, struct hash_cache *cache)
{
	cache->table = table;
	cache->walk = T(walk);
	cache->trees = true;
	cache->bits = 1; /* the hash function is called for nothing, and its result not used */
	cache->rule = "none";
	spin_lock_init(&table->list_lock, TABLE_STRING(TABLE) "_list");
	INIT_LIST_HEAD(&table->roots);
	pr_info("%s cache: a red-black tree for each owner, no hash table\n", cache->title);
}

#undef TABLE
#undef TABLE_OBJECT
#undef TABLE_LINK
#undef TABLE_KEY
