/*
 * rbtree.h - no hash table: a red-black tree in each owner, ordered by key.
 *
 * Caches: page swap
 * Source: Lever 1999, section 3.1, kernel "rbtree" (Arcangeli's patch: each inode keeps its pages
 * in a tree); balanced as in Andersson, "Balanced search trees made simple" (1993). Cost: a lookup
 * visits at most 2 log2(n + 1) of the file's n pages; no contiguous memory, 8 bytes more a page
 * than a chain. Weakness: each step is a branch that nobody can predict and often a cache miss; a
 * large file's tree has one lock. Serves the page cache and the swap cache, which has
 * one tree: the other caches' objects have no owner that every lookup knows.
 *
 * In place of colours a node has a level, the black nodes from it down to where there is none: 1
 * for a leaf. A left child's is one less than its parent's. So is a right child's, unless it is
 * red: then it has its parent's level, and no red right child itself. Only right children are red,
 * which leaves two repairs: skew() turns a red left child to the right, split() lifts the middle of
 * two reds in a row.
 *
 * Locks: bucket (hash/lock): each tree has one of its own, as a bucket has; then the list of
 * trees'. A reader without a lock would meet nodes that a rotation is moving.
 */
#include "hash/table/template.h"
#include "core/base/list.h"
#include "core/log/printk.h"

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

static __always_inline void T(lock_to_read)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	T(lock)(table, root, bucket);
}

static __always_inline void T(unlock_read)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	T(unlock)(table, root, bucket);
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

/* A way down has no more nodes: 2 log2(n + 1) of all the pages that there could be. */
#define RBTREE_HEIGHT 64

static inline unsigned T(level)(const struct rbtree_link *node)
{
	return node ? node->level : 0;
}

/* @node goes down to @side; its child on the other side comes up and is returned. */
static struct rbtree_link *T(rotate)(struct rbtree_link *node, int side)
{
	struct rbtree_link *up = node->child[!side];

	node->child[!side] = up->child[side];
	up->child[side] = node;
	return up;
}

static struct rbtree_link *T(skew)(struct rbtree_link *node)
{
	return node && node->level == T(level)(node->child[0]) ? T(rotate)(node, 1) : node;
}

static struct rbtree_link *T(split)(struct rbtree_link *node)
{
	if (!node || !node->child[1] || node->level != T(level)(node->child[1]->child[1]))
		return node;
	node = T(rotate)(node, 0);
	node->level++;
	return node;
}

/* Up the places of @path, the root's first, below which something has changed by one level. */
static void T(rebalance)(struct rbtree_link ***path, unsigned depth)
{
	while (depth--) {
		struct rbtree_link *node = *path[depth];
		unsigned level = 1 + min(T(level)(node->child[0]), T(level)(node->child[1]));

		if (node->level > level) {
			node->level = level;
			if (T(level)(node->child[1]) > level)
				node->child[1]->level = level;
		}
		node = T(skew)(node);
		node->child[1] = T(skew)(node->child[1]);
		if (node->child[1])
			node->child[1]->child[1] = T(skew)(node->child[1]->child[1]);
		node = T(split)(node);
		node->child[1] = T(split)(node->child[1]);
		*path[depth] = node;
	}
}

/* ---- insert, remove -------------------------------------------------------------------------- */

/* Where the way from @node to @object goes on. */
static inline struct rbtree_link **T(next)(struct rbtree_link *node, const TABLE_OBJECT *object)
{
	const TABLE_OBJECT *at = container_of(node, TABLE_OBJECT, TABLE_LINK);

	return &node->child[TABLE_ORDER(at) < TABLE_ORDER(object)];
}

static __always_inline void T(insert)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct rbtree_link *node = &object->TABLE_LINK, **place = &root->node;
	struct rbtree_link **path[RBTREE_HEIGHT];
	unsigned depth = 0;

	for (; *place; place = T(next)(*place, object))
		path[depth++] = place;
	*node = (struct rbtree_link){.level = 1};
	*place = node;
	T(rebalance)(path, depth);
	if (root->count++ == 0) {
		spin_lock(&table->list_lock);
		list_add(&root->link, &table->roots);
		spin_unlock(&table->list_lock);
	}
}

static __always_inline void T(remove)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct rbtree_link *node = &object->TABLE_LINK, **place = &root->node;
	struct rbtree_link **path[RBTREE_HEIGHT];
	unsigned depth = 0;

	for (; *place != node; place = T(next)(*place, object))
		path[depth++] = place;
	if (node->child[0]) { /* the next smaller one, a leaf, takes the node's place */
		struct rbtree_link **leaf = &node->child[0], *heir;
		unsigned at = depth;

		path[depth++] = place;
		for (; (*leaf)->child[1]; leaf = &(*leaf)->child[1])
			path[depth++] = leaf;
		heir = *leaf;
		*leaf = NULL;
		*heir = *node;
		*place = heir;
		path[at + 1] = &heir->child[0];
	} else {
		*place = node->child[1];
	}
	T(rebalance)(path, depth);
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
	cache->function = "none";
	cache->bits = 1; /* the hash function is called for nothing, and its result not used */
	cache->rule = "none";
	spin_lock_init(&table->list_lock, TABLE_STRING(TABLE) "_list");
	INIT_LIST_HEAD(&table->roots);
	pr_info("%s cache: a red-black tree for each owner, no hash table\n", cache->title);
}
