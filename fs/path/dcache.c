/*
 * dcache.c - the dentry cache: making, hashing, moving and freeing dentries, and their LRU list.
 *
 * The states of a dentry stand in dentry.h. Hashed, on the LRU list (lru.h) and DREF_KEPT are one
 * and the same, so neither dget nor dput of a cached dentry touches a list or a lock: being used
 * only sets the byte `referenced`.
 *
 * Who may change what:
 *   - hashing and unhashing: bucket lock; the caller holds a reference, and the directory's lock or
 *     tree_lock, without which the dentry may be in another bucket by then
 *   - negative -> positive: the directory's lock; positive -> negative: that, and the bucket lock
 *     with the only reference, so that lookup cannot take another meanwhile
 *   - parent and name: only while unhashed, under tree_lock; parent under dentry->lock too (d_move)
 *   - children: the parent's dentry->lock
 */
#include "fs/file/file.h"
#include "fs/inode/lru.h"
#include "fs/path/dcache.h"
#include "fs/direct_hooks.h"
#include "core/memory/slab.h"
#include "core/memory/shrinker.h"
#include "generated/dentry_shrink.h"

#if !defined(CONFIG_DEBUG) && CONFIG_DIRECT_PATHS < 2 /* each more is 8 bytes */
static_assert(sizeof(struct dentry) <= 192 && sizeof(struct inode) <= 600,
	      "a cached file takes no more than Linux's dentry and ext4 inode");
#endif

struct dentry_table dentry_table_instance;
static struct kmem_cache *dentry_slab;

DEFINE_SPINLOCK(dentry_tree_lock);

static bool take_unused(struct list_head *, void *), evict_taken(struct list_head *, void *);
struct lru dentry_lru = {.take = take_unused, .evict = evict_taken};

#ifdef CONFIG_INOTIFY
const struct notify_operations *notify_operations;
#endif

/* ---- making and freeing ---------------------------------------------------------------------- */

static bool name_is_inline(const struct dentry *dentry)
{
	return dentry->name == dentry->inline_name;
}

static struct dentry *dentry_alloc(const char *name, u32 length, u32 hash)
{
	struct dentry *dentry = kmem_cache_alloc(dentry_slab, GFP_KERNEL);

	if (unlikely(!dentry))
		return NULL;
	bool fits = length < sizeof(dentry->inline_name);
	char *to = likely(fits) ? dentry->inline_name : kmalloc(length + 9, GFP_KERNEL);
	if (unlikely(!to)) {
		kmem_cache_free(dentry_slab, dentry);
		return NULL;
	}
	for (u32 i = 0; i <= length; i += 8) /* in whole words; the source has the slack */
		__builtin_memcpy(to + i, name + i, 8);
	to[length] = '\0';
	dentry->name = to;
	dentry->name_length = (u8)length;
	dentry->name_hash = hash;
	dentry->flags = D_UNHASHED;
	dentry->referenced = 0;
	dentry->inode = NULL;
	dentry->cookie = 0;
	atomic_set(&dentry->refcount, 1);
	spin_lock_init(&dentry->lock, "dentry->lock");
#ifdef LOCKLESS_WALK
	dentry->sequence = (seqcount_t){0};
#endif
#ifdef CONFIG_DCACHE_FASTPATH
	memset(dentry->direct, 0, sizeof(dentry->direct));
#endif
	INIT_LIST_HEAD(&dentry->children);
	dentry_forget_children(dentry);
	return dentry;
}

static void link_child(struct dentry *dentry, struct dentry *parent)
{
	guard(spinlock, &parent->lock);
	(dentry->cookie ? list_add_tail : list_add)(&dentry->child_link, &parent->children);
}

static void unlink_child(struct dentry *dentry, struct dentry *parent)
{
	guard(spinlock, &parent->lock);
	child_unlink(dentry, parent);
}

struct dentry *d_alloc_hashed(struct dentry *parent, const char *name, u32 length, u32 hash)
{
	struct dentry *dentry = dentry_alloc(name, length, hash);

	if (unlikely(!dentry))
		return NULL;
	dentry->parent = dget(parent);
	link_child(dentry, parent);
	return dentry;
}

/* A root, or the nameless dentry of a pipe: its own parent, never hashed. */
struct dentry *d_alloc_root(struct inode *root)
{
	static const char name[16] = "/";

	if (!root)
		return NULL;
	struct dentry *dentry = dentry_alloc(name, 1, 0);
	if (!dentry) {
		remove_inode_hash(root); /* so that it goes away at once */
		iput(root);
		return NULL;
	}
	dentry->parent = dentry;
	INIT_LIST_HEAD(&dentry->child_link);
	dentry->inode = root;
	return dentry;
}

static void free_memory(struct rcu_head *head)
{
	struct dentry *dentry = container_of(head, struct dentry, rcu);

	if (unlikely(!name_is_inline(dentry)))
		kfree(dentry->name);
	kmem_cache_free(dentry_slab, dentry);
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
#ifdef CONFIG_DCACHE_FASTPATH
		direct_forget(dentry); /* a root's, which was not unhashed */
#endif
		free_when_unseen(&dentry->rcu, free_memory);
		if (inode) {
			notify(inode, IN_DELETE_SELF, NULL);
			iput(inode);
		}
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
	u32 bucket = dentry_bucket(dentry->parent, dentry->name_hash);

	ASSERT(dentry->flags & D_UNHASHED);
	dentry_table_lock(&dentry_table_instance, NULL, bucket);
	/* D_MOUNTED has another lock */
	__atomic_fetch_and(&dentry->flags, (u8)~D_UNHASHED, __ATOMIC_RELAXED);
	dentry_table_insert(&dentry_table_instance, NULL, bucket, dentry);
	HASH_COUNT(dentry, inserts, 1);
	hash_record(HASH_dentry, HASH_INSERT, dentry, (uintptr_t)dentry->parent, dentry->name_hash,
		    dentry->name, dentry->name_length);
	atomic_add(DREF_KEPT, &dentry->refcount);
	lru_add(&dentry_lru, &dentry->lru, &dentry->lru_cpu);
	dentry_table_unlock(&dentry_table_instance, NULL, bucket);
}

/* The bucket is locked, and the caller has begun the change. */
static void unhash_locked(struct dentry *dentry, u32 bucket)
{
	dentry_table_remove(&dentry_table_instance, NULL, bucket, dentry);
	HASH_COUNT(dentry, removes, 1);
	hash_record(HASH_dentry, HASH_REMOVE, dentry, (uintptr_t)dentry->parent, dentry->name_hash,
		    dentry->name, dentry->name_length);
	__atomic_fetch_or(&dentry->flags, D_UNHASHED, __ATOMIC_RELAXED);
	lru_remove(&dentry_lru, &dentry->lru, dentry->lru_cpu);
	atomic_sub(DREF_KEPT, &dentry->refcount);
#ifdef CONFIG_DCACHE_FASTPATH
	direct_forget(dentry);
#endif
}

/* The caller has a reference, holds the directory's lock, and has begun the change. */
static void unhash(struct dentry *dentry)
{
	u32 bucket = dentry_bucket(dentry->parent, dentry->name_hash);

	dentry_table_lock(&dentry_table_instance, NULL, bucket);
	if (!(dentry->flags & D_UNHASHED))
		unhash_locked(dentry, bucket);
	dentry_table_unlock(&dentry_table_instance, NULL, bucket);
}

/* Is @dentry cached, with the caller's reference and @others, and no more? The bucket is locked. */
static bool is_used_by(const struct dentry *dentry, int others)
{
	/* what those did who had references is behind them */
	return !(dentry->flags & D_UNHASHED) &&
	       smp_load_acquire(&dentry->refcount.counter) == (DREF_KEPT | (1 + others));
}

/* The caller has a reference, which with @others has to be all there are. Was it hashed, and so? */
static bool unhash_unused(struct dentry *dentry, int others)
{
	u32 bucket = dentry_bucket(dentry->parent, dentry->name_hash);
	bool done = false;

	dentry_table_lock(&dentry_table_instance, NULL, bucket);
	if (is_used_by(dentry, others)) { /* who changes it has a reference: so nobody does */
		changes_begin_alone(dentry);
		child_lost(dentry);
		done = is_used_by(dentry, others);
		if (done)
			unhash_locked(dentry, bucket);
		changes_end(dentry);
	}
	dentry_table_unlock(&dentry_table_instance, NULL, bucket);
	return done;
}

void d_add(struct dentry *dentry, struct inode *inode)
{
	dentry->inode = inode;
	notify_inherit(dentry->parent->inode, inode);
	dentry_hash_insert(dentry);
}

void d_instantiate(struct dentry *dentry, struct inode *inode)
{
	ASSERT(!dentry->inode);
	smp_store_release(&dentry->inode, inode); /* in one store: who walks sees it, or not yet */
	notify_inherit(dentry->parent->inode, inode);
}

/* The name is gone. If nobody else looks at the dentry it stays, as the knowledge that there is no
 * such name. */
void d_delete(struct dentry *dentry)
{
	u32 bucket = dentry_bucket(dentry->parent, dentry->name_hash);

	lockdep_assert_held(&dentry->parent->inode->lock);
	changes_begin_alone(dentry);
	dentry_table_lock(&dentry_table_instance, NULL, bucket);
	/* what others did with the inode is behind them */
	bool stays = smp_load_acquire(&dentry->refcount.counter) == (DREF_KEPT | 1);
	struct inode *inode = dentry->inode;
	if (stays)
		WRITE_ONCE(dentry->inode, NULL);
	else if (!(dentry->flags & D_UNHASHED))
		unhash_locked(dentry, bucket);
	dentry_table_unlock(&dentry_table_instance, NULL, bucket);
	changes_end(dentry);
	if (stays) {
		notify(inode, IN_DELETE | IN_DELETE_SELF, dentry);
		iput(inode);
	} else {
		notify(inode, IN_DELETE, dentry);
	}
}

/* ---- moving ---------------------------------------------------------------------------------- */

static void swap_names(struct dentry *a, struct dentry *b)
{
	const char *name = a->name;
	u8 length = a->name_length;
	char text[sizeof(a->inline_name)];

	memcpy(text, a->inline_name, sizeof(text));
	WRITE_ONCE(a->name, name_is_inline(b) ? a->inline_name : b->name);
	WRITE_ONCE(b->name, name == a->inline_name ? b->inline_name : name);
	memcpy(a->inline_name, b->inline_name, sizeof(text));
	memcpy(b->inline_name, text, sizeof(text));
	WRITE_ONCE(a->name_length, b->name_length);
	WRITE_ONCE(b->name_length, length);
}

/* Put @dentry, which has its name, into @parent, with a reference on that. */
static void place(struct dentry *dentry, struct dentry *parent)
{
	lockdep_assert_held(&dentry_tree_lock);
	if (dentry->parent != parent) {
		unlink_child(dentry, dentry->parent);
		spin_lock(&dentry->lock);
		WRITE_ONCE(dentry->parent, dget(parent));
		spin_unlock(&dentry->lock);
		link_child(dentry, parent);
	}
	u32 hash = name_hash((uintptr_t)parent, dentry->name, dentry->name_length);
	WRITE_ONCE(dentry->name_hash, hash);
	notify_inherit(parent->inode, dentry->inode);
	dentry_hash_insert(dentry);
}

/*
 * @dentry takes the name and place of @target, which takes @dentry's, or is left unhashed with its
 * own name, for d_path of those who have it open (if one of the two is long, they swap). Both
 * directories are locked, so whoever misses the dentry between its two places waits for them.
 */
void d_move(struct dentry *dentry, struct dentry *target, unsigned flags)
{
	bool exchange = flags & RENAME_EXCHANGE;
	struct dentry *from = dentry->parent, *to = target->parent;

	lockdep_assert_held(&from->inode->lock);
	lockdep_assert_held(&to->inode->lock);
	/* over all of it: d_path() must not see the dentry between its places */
	spin_lock(&dentry_tree_lock);
	changes_begin(dentry);
	changes_begin(target);
	unhash(dentry);
	unhash(target);
	if (exchange || !name_is_inline(dentry) || !name_is_inline(target)) {
		swap_names(dentry, target);
	} else {
		memcpy(dentry->inline_name, target->inline_name, sizeof(dentry->inline_name));
		WRITE_ONCE(dentry->name_length, target->name_length);
	}
	place(dentry, to);
	if (exchange)
		place(target, from);
	changes_end(target);
	changes_end(dentry);
	spin_unlock(&dentry_tree_lock);
	if (from == to)
		return;
	dput(from);
	if (exchange)
		dput(to);
}

bool d_unlinked(const struct dentry *dentry)
{
	guard(spinlock, &dentry_tree_lock);
	return (READ_ONCE(dentry->flags) & (D_UNHASHED | D_UNCACHED)) == D_UNHASHED &&
	       dentry->parent != dentry;
}

/* ---- the way from the root ------------------------------------------------------------------- */

bool d_is_below(const struct dentry *dentry, const struct dentry *ancestor)
{
	guard(spinlock, &dentry_tree_lock);
	while (dentry != ancestor && dentry->parent != dentry)
		dentry = dentry->parent;
	return dentry == ancestor;
}

/* ---- reclaim --------------------------------------------------------------------------------- */

/* Unhash @dentry if ours (and @others) are its only references, then drop ours. Did it go? A rename
 * that found it before may be about to move it: then its bucket is another, and its lock. */
static bool evict_dentry(struct dentry *dentry, int others)
{
	spin_lock(&dentry_tree_lock);
	bool unused = unhash_unused(dentry, others);
	spin_unlock(&dentry_tree_lock);
	dput(dentry);
	return unused;
}

static bool take_unused(struct list_head *link, void *argument)
{
	struct dentry *dentry = list_entry(link, struct dentry, lru);
	bool unused = !READ_ONCE(dentry->referenced) && atomic_read(&dentry->refcount) == DREF_KEPT;

	WRITE_ONCE(dentry->referenced, 0);
	if (unused)
		dget(dentry); /* on the list, so it is still there */
	return unused;
}

static bool evict_taken(struct list_head *link, void *argument)
{
	return evict_dentry(list_entry(link, struct dentry, lru), 0);
}

/* A child of @parent without these flags, referenced, if there is one. */
static struct dentry *some_child(struct dentry *parent, u8 without)
{
	struct dentry *child;

	guard(spinlock, &parent->lock);
	list_for_each_entry(child, &parent->children, child_link)
		if (!(READ_ONCE(child->flags) & without) && atomic_inc_not_zero(&child->refcount))
			return child;
	return NULL;
}

void shrink_dcache_children(struct dentry *parent)
{
	struct dentry *child;

	lockdep_assert_held(&parent->inode->lock);
	/* What somebody uses goes with that use: cached, it would keep the directory in being. */
	for (; (child = some_child(parent, D_UNHASHED)) != NULL; cond_resched())
		evict_dentry(child, dentry_count(child) - 1); /* or again: others come and go */
}

/* Down to a leaf and up again: each goes before its parent, so no recursion is needed. */
int shrink_dcache_sb(struct super_block *sb)
{
	struct dentry *dentry = dget(sb->root), *child;
	bool gone = true;

	while (gone) {
		while ((child = some_child(dentry, 0)) != NULL) {
			dput(dentry);
			dentry = child;
		}
		if (dentry == sb->root)
			break;
		child = dentry;
		dentry = dget_parent(child);
		int pins = sb->type->pinned && child->inode ? 1 : 0;
		gone = evict_dentry(child, pins);
		if (gone && pins)
			dput(child);
		cond_resched();
	}
	dput(dentry);
	return gone ? 0 : -EBUSY;
}

/* ---- boot and checks ------------------------------------------------------------------------- */

DEFINE_HASH_CACHE(dentry, DENTRY, "Dentry", "dentries", "d_lookup");

#ifdef CONFIG_DEBUG
void dentry_cache_check(void)
{
	struct dentry *dentry;

	lru_check(&dentry_lru, &dentry_cache_hash);
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		list_for_each_entry(dentry, &dentry_lru.of_cpu[cpu].objects, lru) {
			struct component name = take_component(dentry->parent, dentry->name);
			struct dentry *found = d_lookup(dentry->parent, &name, HASH_LOOK);

			BUG_ON(found != dentry);
			dput(found);
		}
#ifdef CONFIG_DCACHE_FASTPATH
	direct_check();
#endif
}
#endif

/* How many dentries reclaim prunes in a round, before or after its pages, is DENTRY_SHRINK of the
 * configuration. Arcangeli's share, by priority and aggressively: Lever 1999, section 3.3. */
#if defined(CONFIG_DENTRY_SHRINK_AGGRESSIVE)
static u64 shrink_by_priority(unsigned priority)
{
	return lru_reclaim(&dentry_lru, priority + 1);
}

static struct shrinker shrinker = {.name = "dentries", .before_pages = shrink_by_priority};
#elif defined(CONFIG_DENTRY_SHRINK_PRIORITY)
static u64 shrink_by_priority(unsigned priority)
{
	return lru_reclaim(&dentry_lru, priority + 1);
}

static struct shrinker shrinker = {.name = "dentries", .if_too_few = shrink_by_priority};
#else
static u64 shrink_share(unsigned priority)
{
	return lru_reclaim(&dentry_lru, 1ULL << priority);
}

static struct shrinker shrinker = {.name = "dentries", .after_pages = shrink_share};
#endif

void dentry_cache_init(void)
{
	dentry_slab = kmem_cache_create("dentry", sizeof(struct dentry), 8, SLAB_RECLAIMABLE);
	lru_init(&dentry_lru, "dentry LRU");
	shrinker_register(&shrinker);
	dentry_table_create(&dentry_table_instance, &dentry_cache_hash);
#ifdef CONFIG_DCACHE_FASTPATH
	direct_init();
#endif
}
