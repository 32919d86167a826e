/*
 * rbtree.h - no hash table: a red-black tree in each owner, ordered by key.
 *
 * Caches: page
 * Source: Lever 1999, section 3.1, kernel "rbtree" (Arcangeli's patch: each inode keeps its pages
 * in a tree); balanced as in Andersson, "Balanced search trees made simple" (1993). Cost: a lookup
 * visits at most 2 log2(n + 1) of the file's n pages; no contiguous memory, 16 bytes more a page
 * than a chain. Weakness: each step is a branch that nobody can predict and often a cache miss; a
 * large file's tree has one lock. Serves the page cache alone: the other caches' objects have no
 * owner that every lookup knows.
 *
 * In place of colours a node has a level, the black nodes from it down to where there is none: 1
 * for a leaf. A left child's is one less than its parent's. So is a right child's, unless it is
 * red: then it has its parent's level, and no red right child itself. Only right children are red,
 * which leaves two repairs: skew() turns a red left child to the right, split() lifts the middle of
 * two reds in a row.
 *
 * Locks: each tree's own, then the list of trees'.
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
	spin_lock(&root->lock);
}

static __always_inline void T(unlock)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	spin_unlock(&root->lock);
}

/* *steps grows by the nodes visited, the one found included. */
static __always_inline TABLE_OBJECT *T(find)(
	struct TABLE *table, struct T(root) * root, u32 bucket, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), u64 *steps)
{
	for (struct rbtree_link *node = root->node; node;) {
		TABLE_OBJECT *object = container_of(node, TABLE_OBJECT, TABLE_LINK);
		int order = compare(object, key);

		++*steps;
		if (order == 0)
			return object;
		node = node->child[order < 0];
	}
	return NULL;
}

/* ---- balance --------------------------------------------------------------------------------- */

static inline unsigned T(level)(const struct rbtree_link *node)
{
	return node ? node->level : 0;
}

/* @new (may be NULL) takes the place of @old under its parent. */
static inline void T(replace)(struct T(root) * root, struct rbtree_link *old,
			      struct rbtree_link *new)
{
	struct rbtree_link *parent = old->parent;

	*(parent ? &parent->child[parent->child[1] == old] : &root->node) = new;
	if (new)
		new->parent = parent;
}

/* @node goes down to @side; its child on the other side comes up and is returned. */
static struct rbtree_link *T(rotate)(struct T(root) * root, struct rbtree_link *node, int side)
{
	struct rbtree_link *up = node->child[!side], *middle = up->child[side];

	T(replace)(root, node, up);
	node->child[!side] = middle;
	if (middle)
		middle->parent = node;
	up->child[side] = node;
	node->parent = up;
	return up;
}

static struct rbtree_link *T(skew)(struct T(root) * root, struct rbtree_link *node)
{
	return node && node->level == T(level)(node->child[0]) ? T(rotate)(root, node, 1) : node;
}

static struct rbtree_link *T(split)(struct T(root) * root, struct rbtree_link *node)
{
	if (!node || !node->child[1] || node->level != T(level)(node->child[1]->child[1]))
		return node;
	node = T(rotate)(root, node, 0);
	node->level++;
	return node;
}

/* From @node, below which something has changed by one level, up to the root. */
static void T(rebalance)(struct T(root) * root, struct rbtree_link *node)
{
	for (; node; node = node->parent) {
		unsigned level = 1 + min(T(level)(node->child[0]), T(level)(node->child[1]));

		if (node->level > level) {
			node->level = level;
			if (T(level)(node->child[1]) > level)
				node->child[1]->level = level;
		}
		node = T(skew)(root, node);
		if (T(skew)(root, node->child[1]))
			T(skew)(root, node->child[1]->child[1]);
		node = T(split)(root, node);
		T(split)(root, node->child[1]);
	}
}

/* ---- insert, remove -------------------------------------------------------------------------- */

static __always_inline void T(insert)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object, const TABLE_KEY *key,
				      int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *))
{
	struct rbtree_link *node = &object->TABLE_LINK, **place = &root->node, *parent = NULL;

	while (*place) {
		parent = *place;
		place = &parent->child[compare(container_of(parent, TABLE_OBJECT, TABLE_LINK),
					       key) < 0];
	}
	*node = (struct rbtree_link){.parent = parent, .level = 1};
	*place = node;
	T(rebalance)(root, parent);
	if (root->count++ == 0) {
		spin_lock(&table->list_lock);
		list_add(&root->link, &table->roots);
		spin_unlock(&table->list_lock);
	}
}

static __always_inline void T(remove)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct rbtree_link *node = &object->TABLE_LINK, *heir = node->child[0], *from;

	if (heir) { /* the next smaller one, a leaf, takes the node's place */
		while (heir->child[1])
			heir = heir->child[1];
		from = heir->parent == node ? heir : heir->parent;
		T(replace)(root, heir, NULL);
		*heir = *node;
		for (int side = 0; side < 2; side++)
			if (heir->child[side])
				heir->child[side]->parent = heir;
	} else {
		heir = node->child[1];
		from = node->parent;
	}
	T(replace)(root, node, heir);
	T(rebalance)(root, from);
	if (--root->count == 0) {
		spin_lock(&table->list_lock);
		list_del(&root->link);
		spin_unlock(&table->list_lock);
	}
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
static __maybe_unused void T(create)(struct TABLE *table, struct hash_cache *cache)
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
