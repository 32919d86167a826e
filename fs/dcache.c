/*
 * dcache.c - the dentry cache: making, hashing, moving and freeing dentries, and their LRU list.
 *
 * States of a dentry:
 *   new (d_alloc): unhashed, negative, count 1, among its parent's children
 *   cached (d_add): hashed and on the LRU list, DREF_KEPT set; positive or negative; count may be 0
 *   dropped (d_drop, d_delete of one in use): unhashed, off the list; freed with its last reference
 * Hashed, on the LRU list and DREF_KEPT are one and the same, so neither dget nor dput of a cached
 * dentry touches a list or a lock: being used only sets the byte `referenced`. The list is a clock:
 * the shrinker takes from its old end, and what has been used since, or is in use, goes round
 * again.
 *
 * Who may change what:
 *   - hashing and unhashing: bucket lock; the caller holds a reference
 *   - negative -> positive: the directory's lock; positive -> negative: that, and the bucket lock
 * with the only reference, so that lookup cannot take another meanwhile
 *   - parent and name: only while unhashed, under tree_lock and dentry->lock (d_move)
 *   - children: the parent's dentry->lock
 * Lock order: tree_lock -> bucket lock -> dentry->lock -> LRU list.
 */
#include "fs/anonymous.h"
#include "fs/dcache.h"
#include "fs/internal.h"
#include "fs/lru.h"

#ifndef CONFIG_DEBUG
static_assert(sizeof(struct dentry) <= 192 && sizeof(struct inode) <= 600,
	      "a cached file takes no more than Linux's dentry and ext4 inode");
#endif

struct dentry_table dentry_table_instance;
static struct kmem_cache *dentry_slab;

/* Parents and names: taken by d_move, d_path and whoever walks upwards without references. */
DEFINE_SPINLOCK(dentry_tree_lock);

static struct lru lru;

/* ---- making and freeing ---------------------------------------------------------------------- */

static bool name_is_inline(const struct dentry *dentry)
{
	return dentry->name == dentry->inline_name;
}

/* Copy whole words; the source has the slack. */
static bool set_name(struct dentry *dentry, const char *name, u32 length)
{
	char *to = dentry->inline_name;

	if (unlikely(length >= DNAME_INLINE)) {
		to = kmalloc(length + 9, GFP_KERNEL);
		if (!to)
			return false;
		memset(to + length, 0, 9);
		memcpy(to, name, length);
	} else {
		for (u32 i = 0; i <= length; i += 8)
			__builtin_memcpy(to + i, name + i, 8);
		to[length] = '\0';
	}
	dentry->name = to;
	dentry->name_length = (u8)length;
	return true;
}

static struct dentry *dentry_alloc(const char *name, u32 length)
{
	struct dentry *dentry = kmem_cache_alloc(dentry_slab, GFP_KERNEL);

	if (unlikely(!dentry))
		return NULL;
	if (unlikely(!set_name(dentry, name, length))) {
		kmem_cache_free(dentry_slab, dentry);
		return NULL;
	}
	dentry->flags = D_UNHASHED;
	dentry->referenced = 0;
	dentry->inode = NULL;
	dentry->private = NULL;
	atomic_set(&dentry->refcount, 1);
	spin_lock_init(&dentry->lock, "dentry->lock");
	INIT_LIST_HEAD(&dentry->children);
	return dentry;
}

static void link_child(struct dentry *dentry, struct dentry *parent)
{
	guard(spinlock, &parent->lock);
	list_add(&dentry->child_link, &parent->children);
}

static void unlink_child(struct dentry *dentry, struct dentry *parent)
{
	guard(spinlock, &parent->lock);
	list_del(&dentry->child_link);
}

struct dentry *d_alloc_hashed(struct dentry *parent, const char *name, u32 length, u32 hash)
{
	struct dentry *dentry = dentry_alloc(name, length);

	if (unlikely(!dentry))
		return NULL;
	if (parent->sb->flags & SB_REVALIDATE)
		dentry->flags |= D_REVALIDATE;
	dentry->name_hash = hash;
	dentry->sb = parent->sb;
	dentry->parent = dget(parent);
	link_child(dentry, parent);
	return dentry;
}

struct dentry *d_alloc(struct dentry *parent, const char *name, size_t length)
{
	return d_alloc_hashed(parent, name, (u32)length,
			      dentry_name_hash(parent, name, (u32)length));
}

/* A root, or the nameless dentry of a pipe: its own parent, never hashed. */
struct dentry *d_alloc_root(struct inode *root)
{
	static const char name[16] = "/";
	struct dentry *dentry = dentry_alloc(name, 1);

	if (!dentry)
		return NULL;
	dentry->name_hash = 0;
	dentry->sb = root->sb;
	dentry->parent = dentry;
	INIT_LIST_HEAD(&dentry->child_link);
	dentry->inode = root;
	return dentry;
}

void dentry_free(struct dentry *dentry)
{
	struct dentry *parent;

	do {
		struct inode *inode = dentry->inode;

		ASSERT(dentry->flags & D_UNHASHED);
		ASSERT(list_empty(&dentry->children));
		parent = dentry->parent;
		if (parent != dentry)
			unlink_child(dentry, parent);
		if (unlikely(!name_is_inline(dentry)))
			kfree(dentry->name);
		kmem_cache_free(dentry_slab, dentry);
		if (inode)
			iput(inode);
		if (parent == dentry)
			return;
		dentry = parent; /* whose reference we held */
	} while (atomic_dec_return(&dentry->refcount) == 0);
}

struct dentry *dget_parent(struct dentry *dentry)
{
	guard(spinlock, &dentry->lock);
	return dget(dentry->parent);
}

/* ---- hashing --------------------------------------------------------------------------------- */

static void dentry_hash_insert(struct dentry *dentry)
{
	struct lookup_counts counts; /* an ordered structure compares; that is no lookup */
	struct dentry_key key = {dentry->parent, dentry->name, dentry->name_hash,
				 dentry->name_length, &counts};
	u32 bucket = dentry_bucket(dentry->parent, dentry->name_hash);

	ASSERT(dentry->flags & D_UNHASHED);
	dentry_table_lock(&dentry_table_instance, NULL, bucket);
	/* D_MOUNTED has another lock */
	__atomic_fetch_and(&dentry->flags, (u8)~D_UNHASHED, __ATOMIC_RELAXED);
	dentry_table_insert(&dentry_table_instance, NULL, bucket, dentry, &key, dentry_compare);
	HASH_COUNT(dentry, inserts, 1);
	atomic_add(DREF_KEPT, &dentry->refcount);
	lru_add(&lru, &dentry->lru, &dentry->lru_cpu);
	dentry_table_unlock(&dentry_table_instance, NULL, bucket);
}

/* Bucket lock held, and a reference. */
static void dentry_unhash(struct dentry *dentry, u32 bucket)
{
	dentry_table_remove(&dentry_table_instance, NULL, bucket, dentry);
	HASH_COUNT(dentry, removes, 1);
	__atomic_fetch_or(&dentry->flags, D_UNHASHED, __ATOMIC_RELAXED);
	lru_remove(&lru, &dentry->lru, dentry->lru_cpu);
	atomic_sub(DREF_KEPT, &dentry->refcount);
}

void d_add(struct dentry *dentry, struct inode *inode)
{
	dentry->inode = inode;
	dentry_hash_insert(dentry);
}

void d_instantiate(struct dentry *dentry, struct inode *inode)
{
	ASSERT(!dentry->inode);
	smp_store_release(&dentry->inode, inode);
}

void d_drop(struct dentry *dentry)
{
	u32 bucket = dentry_bucket(dentry->parent, dentry->name_hash);

	dentry_table_lock(&dentry_table_instance, NULL, bucket);
	if (!(dentry->flags & D_UNHASHED))
		dentry_unhash(dentry, bucket);
	dentry_table_unlock(&dentry_table_instance, NULL, bucket);
}

/* The name is gone. If nobody else looks at the dentry it stays, as the knowledge that there is no
 * such name. */
void d_delete(struct dentry *dentry)
{
	u32 bucket = dentry_bucket(dentry->parent, dentry->name_hash);
	struct inode *inode = NULL;

	dentry_table_lock(&dentry_table_instance, NULL, bucket);
	if (!(dentry->flags & D_UNHASHED)) {
		if (atomic_read(&dentry->refcount) == (DREF_KEPT | 1)) {
			inode = dentry->inode;
			dentry->inode = NULL;
		} else {
			dentry_unhash(dentry, bucket);
		}
	}
	dentry_table_unlock(&dentry_table_instance, NULL, bucket);
	if (inode)
		iput(inode);
}

struct dentry *d_lookup(struct dentry *parent, const char *name, size_t length)
{
	u32 hash = dentry_name_hash(parent, name, (u32)length);
	struct lookup_counts counts = {0, 0, 0, 0, 0};
	struct dentry *dentry = dentry_find(parent, name, (u32)length, hash, &counts);

	count_lookups(&counts);
	return dentry;
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* @dentry takes a copy of @from's name; @spare: memory for a long one. */
static void copy_name(struct dentry *dentry, const struct dentry *from, char *spare)
{
	const char *old = name_is_inline(dentry) ? NULL : dentry->name;

	if (name_is_inline(from)) {
		memcpy(dentry->inline_name, from->inline_name, DNAME_INLINE);
		dentry->name = dentry->inline_name;
	} else {
		memcpy(spare, from->name, (size_t)from->name_length + 9);
		dentry->name = spare;
	}
	dentry->name_length = from->name_length;
	kfree(old);
}

static void swap_names(struct dentry *a, struct dentry *b)
{
	char inline_a[DNAME_INLINE];
	bool a_inline = name_is_inline(a), b_inline = name_is_inline(b);
	const char *name_a = a->name;
	u8 length_a = a->name_length;

	memcpy(inline_a, a->inline_name, DNAME_INLINE);
	memcpy(a->inline_name, b->inline_name, DNAME_INLINE);
	memcpy(b->inline_name, inline_a, DNAME_INLINE);
	a->name = b_inline ? a->inline_name : b->name;
	b->name = a_inline ? b->inline_name : name_a;
	a->name_length = b->name_length;
	b->name_length = length_a;
}

/* Put @dentry among the children of @parent, with a reference on it; the old parent's is returned.
 */
static struct dentry *change_parent(struct dentry *dentry, struct dentry *parent)
{
	struct dentry *old = dentry->parent;

	unlink_child(dentry, old);
	spin_lock(&dentry->lock);
	dentry->parent = dget(parent);
	spin_unlock(&dentry->lock);
	link_child(dentry, parent);
	return old;
}

static void rehash(struct dentry *dentry)
{
	dentry->name_hash = dentry_name_hash(dentry->parent, dentry->name, dentry->name_length);
	dentry_hash_insert(dentry);
}

/*
 * @dentry takes the name and place of @target, which is left unhashed (with its own name, for
 * d_path of those who have it open). Both directories are locked, so whoever misses the dentry
 * between its two places waits for them. If there is no memory for a copy of a long name, the two
 * swap theirs.
 */
void d_move(struct dentry *dentry, struct dentry *target)
{
	char *spare = name_is_inline(target) ? NULL
					     : kmalloc((size_t)target->name_length + 9, GFP_KERNEL);
	struct dentry *old_parent = NULL;

	/* over all of it: d_path() must not see the dentry between its places */
	spin_lock(&dentry_tree_lock);
	d_drop(dentry);
	d_drop(target);
	if (spare || name_is_inline(target))
		copy_name(dentry, target, spare);
	else
		swap_names(dentry, target);
	if (dentry->parent != target->parent)
		old_parent = change_parent(dentry, target->parent);
	rehash(dentry);
	spin_unlock(&dentry_tree_lock);
	if (old_parent)
		dput(old_parent);
}

void d_exchange(struct dentry *a, struct dentry *b)
{
	struct dentry *parent_a = a->parent, *parent_b = b->parent;

	spin_lock(&dentry_tree_lock);
	d_drop(a);
	d_drop(b);
	swap_names(a, b);
	if (parent_a != parent_b) {
		change_parent(a, parent_b);
		change_parent(b, parent_a);
	}
	rehash(a);
	rehash(b);
	spin_unlock(&dentry_tree_lock);
	if (parent_a != parent_b) {
		dput(parent_a);
		dput(parent_b);
	}
}

bool is_subdir(const struct dentry *dentry, const struct dentry *ancestor)
{
	guard(spinlock, &dentry_tree_lock);
	while (dentry != ancestor && dentry->parent != dentry)
		dentry = dentry->parent;
	return dentry == ancestor;
}

bool d_unlinked(const struct dentry *dentry)
{
	guard(spinlock, &dentry_tree_lock);
	return (dentry->flags & D_UNHASHED) && dentry->parent != dentry;
}

/* ---- the way from the root ------------------------------------------------------------------- */

static bool prepend(char **at, const char *start, const char *text, size_t length)
{
	if ((size_t)(*at - start) < length)
		return false;
	*at -= length;
	memcpy(*at, text, length);
	return true;
}

/* Both locks held: prepend "/name" for each component from @path up to @root. 1: ended at another
 * root. */
static int prepend_path(const struct path *path, const struct path *root, char **at,
			const char *start)
{
	struct mount *mount = path->mount;
	struct dentry *dentry = path->dentry;

	while (dentry != root->dentry || mount != root->mount) {
		if (dentry == mount->root || dentry->parent == dentry) {
			if (dentry != mount->root || mount->parent == mount || !mount->parent)
				return 1;
			dentry = mount->mountpoint;
			mount = mount->parent;
			continue;
		}
		if (!prepend(at, start, dentry->name, dentry->name_length) ||
		    !prepend(at, start, "/", 1))
			return -ENAMETOOLONG;
		dentry = dentry->parent;
	}
	return 0;
}

char *d_path(const struct path *path, const struct path *root, char *buf, size_t size)
{
	struct dentry *dentry = path->dentry;
	char *at = buf + size - 1;
	int result;

	if (is_anonymous(dentry)) {
		result = anonymous_name(dentry, buf, size);
		return result < (int)size ? buf : ERR_PTR(-ENAMETOOLONG);
	}
	*at = '\0';
	if (d_unlinked(dentry) && !prepend(&at, buf, " (deleted)", 10))
		return ERR_PTR(-ENAMETOOLONG);
	mount_lock_read();
	spin_lock(&dentry_tree_lock);
	result = prepend_path(path, root, &at, buf);
	spin_unlock(&dentry_tree_lock);
	mount_unlock_read();
	if (result >= 0 && (*at == '\0' || *at == ' ') && !prepend(&at, buf, "/", 1))
		result = -ENAMETOOLONG;
	if (result == 1 && !prepend(&at, buf, "(unreachable)", 13))
		result = -ENAMETOOLONG;
	return result < 0 ? ERR_PTR(result) : at;
}

/* ---- reclaim --------------------------------------------------------------------------------- */

/* Unhash @dentry if ours (and @others) are its only references, then drop ours. Did it go? */
static bool evict_dentry(struct dentry *dentry, int others)
{
	u32 bucket = dentry_bucket(dentry->parent, dentry->name_hash);
	bool unused;

	dentry_table_lock(&dentry_table_instance, NULL, bucket);
	unused = atomic_read(&dentry->refcount) == (DREF_KEPT | (1 + others));
	if (unused)
		dentry_unhash(dentry, bucket);
	dentry_table_unlock(&dentry_table_instance, NULL, bucket);
	if (unused && others)
		dput(dentry);
	dput(dentry);
	return unused;
}

/* The oldest dentry of a list that is neither in use nor recently used, referenced; NULL after
 * @budget looks. */
static struct dentry *oldest_unused(struct lru_list *list, u64 *budget)
{
	guard(spinlock, &list->lock);
	while (*budget && !list_empty(&list->objects)) {
		struct dentry *dentry = list_last_entry(&list->objects, struct dentry, lru);
		bool unused = !dentry->referenced && atomic_read(&dentry->refcount) == DREF_KEPT;

		(*budget)--;
		dentry->referenced = 0;
		list_move(&dentry->lru, &list->objects);
		if (unused)
			return dget(dentry); /* on the list, so it is still there */
	}
	return NULL;
}

/* One from each CPU's list in turn. */
static u64 shrink_dentries(u64 objects, u64 budget)
{
	unsigned cpu = 0, without = 0;
	struct dentry *dentry;
	u64 freed = 0;

	for (; freed < objects && without < NR_CPUS; cpu = (cpu + 1) % NR_CPUS) {
		dentry = oldest_unused(&lru.of_cpu[cpu], &budget);
		without = dentry ? 0 : without + 1;
		if (dentry)
			freed += evict_dentry(dentry, 0);
	}
	return freed;
}

u64 shrink_dcache(u64 objects)
{
	/* once round to forget uses, once more to take */
	return shrink_dentries(objects, 2 * lru_count(&lru));
}

static u64 dcache_count(void)
{
	return lru_count(&lru);
}

/* Dropping an unused cached dentry frees no disk blocks and takes no sleeping lock: any GFP may. It
 * looks at a number in proportion to @objects, however many are in use: all of tmpfs's are. */
static u64 dcache_scan(u64 objects, unsigned gfp)
{
	return shrink_dentries(objects, 2 * objects);
}

static struct shrinker dcache_shrinker = {
	.name = "dentry", .count = dcache_count, .scan = dcache_scan};

/* A child of @parent for which a reference could be had, skipping those in use unless @busy. */
static struct dentry *some_child(struct dentry *parent, bool busy)
{
	struct dentry *child;

	guard(spinlock, &parent->lock);
	list_for_each_entry(child, &parent->children, child_link)
		if ((busy || dentry_count(child) == 0) && atomic_inc_not_zero(&child->refcount))
			return child;
	return NULL;
}

void shrink_dcache_children(struct dentry *parent)
{
	struct dentry *child;

	while ((child = some_child(parent, false)) != NULL)
		if (!evict_dentry(child, 0))
			/* somebody uses the name of a removed directory: it goes with that use */
			break;
}

/* From the root down to a leaf again and again: each goes before its parent, so no recursion is
 * needed. */
int shrink_dcache_sb(struct super_block *sb, bool pinned)
{
	for (;;) {
		struct dentry *dentry = dget(sb->root), *child;

		while ((child = some_child(dentry, true)) != NULL) {
			dput(dentry);
			dentry = child;
		}
		if (dentry == sb->root) {
			dput(dentry);
			return 0;
		}
		if (!evict_dentry(dentry, pinned && dentry->inode ? 1 : 0))
			return -EBUSY;
		cond_resched();
	}
}

/* ---- boot and checks ------------------------------------------------------------------------- */

DEFINE_HASH_CACHE(dentry, DENTRY, "Dentry", "d_lookup");

static void add_size(u64 size, void *total)
{
	*(u64 *)total += size;
}

/* Every dentry on the LRU list is found in its bucket, and the table has no others. Nothing else
 * runs. */
void dentry_cache_check(void)
{
	u64 listed = 0, hashed = 0;
	struct dentry *dentry;

	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		list_for_each_entry(dentry, &lru.of_cpu[cpu].objects, lru) {
			struct dentry *found =
				dentry_find_again(dentry->parent, dentry->name, dentry->name_length,
						  dentry->name_hash);

			BUG_ON(found != dentry);
			dput(found);
			BUG_ON(dentry->flags & D_UNHASHED);
			BUG_ON(dentry->name_hash !=
			       dentry_name_hash(dentry->parent, dentry->name, dentry->name_length));
			BUG_ON(strlen(dentry->name) != dentry->name_length);
			listed++;
		}
	dentry_cache_hash.walk(&dentry_table_instance, add_size, &hashed);
	BUG_ON(listed != hashed || listed != lru_count(&lru));
#ifdef CONFIG_HASH_STATS
	u64 inserted = 0;

	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		inserted += dentry_counters[cpu].inserts - dentry_counters[cpu].removes;
	BUG_ON(inserted != listed);
#endif
}

void dentry_cache_init(void)
{
	dentry_slab = kmem_cache_create("dentry", sizeof(struct dentry), 8, SLAB_RECLAIMABLE, NULL);
	lru_init(&lru, "dentry LRU");
	dentry_table_create(&dentry_table_instance, &dentry_cache_hash);
	register_shrinker(&dcache_shrinker);
}
