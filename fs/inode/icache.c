/*
 * icache.c - the inode cache: finding, making, writing back and freeing inodes.
 *
 * States of an inode:
 *   I_NEW      in the table, being read from disk by the one who made it; others who find it wait
 *   in use     refcount > 0
 *   unused     refcount 0, hashed: found again by number, or reclaimed when clean
 *   I_FREEING  nobody may take a reference any more; it leaves the table and all lists and is freed
 * An inode that is not hashed (tmpfs, pipes) or has no name left (nlink 0) is freed with its last
 * reference. The step from 1 to 0 and I_FREEING are under inode->spin; a finder holds the bucket
 * lock (unlocked.h: or none) and then spin.
 *
 * Dirty inodes (times, size, blocks, or pages are) are on sb->dirty until they have been written
 * back.
 *
 * What is hashed is on the LRU list (lru.h), in use or not.
 *
 * Lock order: bucket lock, sb->inodes_lock -> LRU list -> inode->spin.
 */
#include "fs/file/file.h"
#include "fs/inode/lru.h"
#include "core/memory/shrinker.h"
#include "core/memory/slab.h"

struct inode_key {
	const struct super_block *sb;
	ino_t number;
	u64 *compares; /* full compares are added here */
};

#define TABLE inode_table
#define TABLE_OBJECT struct inode
#define TABLE_LINK hash_link
#define TABLE_KEY struct inode_key
#define TABLE_LOCK_HEADER INODE_LOCK_HEADER
#include INODE_TABLE_HEADER

static_assert(sizeof(struct inode) % HASH_INODE_LSB == 0,
	      "what the page hashes divide by (hash/word.h)");

static struct inode_table table;
static struct percpu_numbers last_number; /* given out, of those that the kernel chooses */

/* Waiters for I_NEW and I_WRITING of any inode: rare, so one queue serves all. */
static DEFINE_WAIT_QUEUE(inode_wait);

static bool take_unused(struct list_head *, void *), evict_unused(struct list_head *, void *);
struct lru inode_lru = {.take = take_unused, .evict = evict_unused};

static __always_inline int inode_compare(const struct inode *inode, const struct inode_key *key)
{
	if (inode->number != key->number)
		return inode->number < key->number ? -1 : 1;
	++*key->compares;
	if (inode->sb != key->sb)
		return inode->sb < key->sb ? -1 : 1;
	return 0;
}

static u32 bucket_of(const struct super_block *sb, ino_t number)
{
	return inode_hash((uintptr_t)sb, number, inode_cache_hash.bits);
}

/* What an inode has until its file system gives it something else. */
const struct file_operations bad_file_operations;
static const struct inode_operations no_inode_operations;

/* ---- making ---------------------------------------------------------------------------------- */

static struct inode *inode_alloc(struct super_block *sb)
{
	const struct filesystem *type = sb->type;
	char *block = kmem_cache_alloc(type->inode_slab, GFP_KERNEL | GFP_ZERO);
	struct inode *inode = (struct inode *)(block + type->inode_before);

	if (!block)
		return NULL;
	inode->sb = sb;
	if (!percpu_counter_inc(&sb->inode_count) ||
	    (sb->op->init_inode && sb->op->init_inode(inode))) {
		kmem_cache_free(type->inode_slab, block);
		return NULL;
	}
	inode->nlink = 1;
	inode->op = &no_inode_operations;
	inode->fop = &bad_file_operations;
	atomic_set(&inode->refcount, 1);
	init_rwsem(&inode->lock, "inode->lock");
	spin_lock_init(&inode->spin, "inode->spin");
	INIT_LIST_HEAD(&inode->dirty_link);
	address_space_init(&inode->data, inode, NULL);
	return inode;
}

static void free_memory(struct rcu_head *head)
{
	struct inode *inode = container_of(head, struct inode, rcu);
	const struct filesystem *type = inode->sb->type;
	char *block = (char *)inode - type->inode_before;

	/* a link's text lies in its inode, or is its own */
	if (S_ISLNK(inode->mode) && (inode->link < block || inode->link > (char *)inode))
		kfree(inode->link);
	kmem_cache_free(type->inode_slab, block);
}

static void inode_free(struct inode *inode)
{
	struct super_block *sb = inode->sb;

	if (sb->op->free_inode)
		sb->op->free_inode(inode);
	free_when_unseen(&inode->rcu, free_memory);
	percpu_counter_add(&sb->inode_count, -1); /* then @sb may go, too */
}

struct inode *new_inode(struct super_block *sb)
{
	struct inode *inode = inode_alloc(sb);

	if (!inode)
		return NULL;
	inode->number = (ino_t)percpu_number(&last_number);
	inode->atime = inode->mtime = inode->ctime = current_time();
	return inode;
}

static void insert_locked(struct inode *inode, u32 bucket)
{
	inode_change_flags(inode, I_HASHED, 0);
	inode_table_insert(&table, NULL, bucket, inode);
	HASH_COUNT(inode, inserts, 1);
	HASH_RECORD(inode, HASH_INSERT, inode, inode->sb, inode->number);
	lru_add(&inode_lru, &inode->lru, &inode->lru_cpu);
}

void insert_inode_hash(struct inode *inode)
{
	u32 bucket = bucket_of(inode->sb, inode->number);

	inode_table_lock(&table, NULL, bucket);
	insert_locked(inode, bucket);
	inode_table_unlock(&table, NULL, bucket);
}

void remove_inode_hash(struct inode *inode)
{
	u32 bucket = bucket_of(inode->sb, inode->number);

	inode_table_lock(&table, NULL, bucket);
	if (READ_ONCE(inode->flags) & I_HASHED) {
		inode_table_remove(&table, NULL, bucket, inode);
		HASH_COUNT(inode, removes, 1);
		HASH_RECORD(inode, HASH_REMOVE, inode, inode->sb, inode->number);
		lru_remove(&inode_lru, &inode->lru, inode->lru_cpu);
		inode_change_flags(inode, 0, I_HASHED);
	}
	inode_table_unlock(&table, NULL, bucket);
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Take a reference unless the inode is on its way out. What it was found in, the table or
 * sb->dirty, keeps it from being freed meanwhile. */
static bool inode_get_live(struct inode *inode)
{
	guard(spinlock, &inode->spin);
	if (inode->flags & I_FREEING)
		return false;
	atomic_inc(&inode->refcount);
	return true;
}

#ifdef CONFIG_INODE_LOCK_SEQUENCE
#include "fs/inode/unlocked.h"
#endif

/*
 * The lookup that is counted, and named in the report: the cached inode with a reference, or NULL.
 * With @fresh, a second look that is not counted: @fresh goes in unless somebody was faster. One
 * that is being freed is waited for.
 */
static CACHE_LOOKUP struct inode *find_inode(struct super_block *sb, ino_t number,
					     struct inode *fresh)
{
	bool leaving, count = !fresh;
	struct inode *inode;

#ifdef CONFIG_INODE_LOCK_SEQUENCE
	if (count && likely(find_unlocked(sb, number, &inode)))
		return inode;
#endif
	for (;; schedule()) {
		u64 steps = 0, compares = 0;
		struct inode_key key = {sb, number, &compares};

		REGION_MARK(HASH_inode, 0);
		u32 bucket = bucket_of(sb, number);

		(fresh ? inode_table_lock : inode_table_lock_to_read)(&table, NULL, bucket);
		inode = inode_table_find(&table, NULL, bucket, &key, inode_compare, &steps);
		REGION_MARK(HASH_inode, 1);
		if (count) {
			HASH_COUNT_FIND(inode, inode, steps, compares);
		}
		HASH_RECORD(inode, count ? HASH_FIND : HASH_LOOK, inode, sb, number);
		leaving = inode && !inode_get_live(inode);
		if (!inode && fresh) {
			fresh->flags = I_NEW;
			insert_locked(fresh, bucket);
			inode = fresh;
		}
		(fresh ? inode_table_unlock : inode_table_unlock_read)(&table, NULL, bucket);
		if (!leaving)
			return inode;
		count = false;
	}
}

/* @inode, which is I_NEW, from its file system's disk; ERR_PTR: nobody will find it. */
static struct inode *read_in(struct inode *inode)
{
	int error = inode->sb->op->read_inode(inode) ?: if_labels(label_read(inode));

	if (unlikely(error))
		remove_inode_hash(inode);
	inode_change_flags(inode, 0, I_NEW);
	wake_up(&inode_wait);
	if (likely(!error))
		return inode;
	iput(inode);
	return ERR_PTR(error);
}

struct inode *iget(struct super_block *sb, ino_t number)
{
	for (;;) {
		struct inode *inode = find_inode(sb, number, NULL);

		if (!inode) {
			struct inode *fresh = inode_alloc(sb);

			if (!fresh)
				return ERR_PTR(-ENOMEM);
			fresh->number = number;
			inode = find_inode(sb, number, fresh);
			if (inode == fresh)
				return read_in(fresh);
			inode_free(fresh);
		}
		wait_event(inode_wait, !(smp_load_acquire(&inode->flags) & I_NEW));
		if (READ_ONCE(inode->flags) & I_HASHED)
			return inode;
		iput(inode); /* reading it failed for the one before us: try ourselves */
	}
}

/* ---- letting go ------------------------------------------------------------------------------ */

/* I_FREEING is set and no reference left: the inode is ours. */
static void evict(struct inode *inode)
{
	struct super_block *sb = inode->sb;

	if (READ_ONCE(inode->flags) & I_HASHED)
		remove_inode_hash(inode);
	if (sb->op->before_evict && inode->nlink == 0)
		sb->op->before_evict(inode);
	if (READ_ONCE(inode->data.nr_pages))
		truncate_inode_pages(&inode->data, 0, FILE_END);
	/* reclaim may have dropped the last page just now: until it has let go */
	spin_lock(&inode->data.lock);
	spin_unlock(&inode->data.lock);
	if (sb->op->evict_inode && inode->nlink == 0)
		sb->op->evict_inode(inode);
	if (sb->op->write_inode) { /* else it is never listed */
		guard(spinlock, &sb->inodes_lock);
		list_del(&inode->dirty_link);
	}
	inode_free(inode);
}

/*
 * Reclaim runs under whatever locks an allocation is made under, also a file system's, and to free
 * an inode without a name is work on the disk. So where reclaim has the last reference, the inode
 * becomes dirty instead, and write-back, which comes to all that are, frees it.
 */
static bool leave_to_writeback(struct inode *inode)
{
	struct super_block *sb = inode->sb;

	if (inode->nlink || !sb->op->write_inode)
		return false;
	guard(spinlock, &sb->inodes_lock);
	guard(spinlock, &inode->spin);
	if (atomic_dec_and_test(&inode->refcount)) {
		inode->flags |= I_DIRTY;
		if (list_empty(&inode->dirty_link))
			list_add(&inode->dirty_link, &sb->dirty);
	}
	return true;
}

/* The last reference is dropped, or not the last any more. */
static void put_last(struct inode *inode)
{
	spin_lock(&inode->spin);
	bool last = atomic_dec_and_test(&inode->refcount);
	bool gone = last && (inode->nlink == 0 || !(inode->flags & I_HASHED));
	if (last)
		inode->flags |= gone ? I_FREEING : I_REFERENCED;
	spin_unlock(&inode->spin);
	if (gone)
		evict(inode);
}

void iput(struct inode *inode)
{
	if (likely(atomic_add_unless(&inode->refcount, -1, 1)))
		return;
	if (!current->in_reclaim || !leave_to_writeback(inode))
		put_last(inode);
}

/* Reclaim takes what is unused and not used lately (with a reference), unmounting what is unused of
 * @sb. */
static bool take_unused(struct list_head *link, void *sb)
{
	struct inode *inode = list_entry(link, struct inode, lru);
	u32 spared = sb ? I_FREEING : I_FREEING | I_REFERENCED;

	guard(spinlock, &inode->spin);
	bool unused = atomic_read(&inode->refcount) == 0 && !(inode->flags & spared) &&
		      (!sb || inode->sb == sb);
	inode->flags &= ~I_REFERENCED;
	if (unused)
		atomic_inc(&inode->refcount);
	return unused;
}

/* What is dirty, or has pages that are, or no name, stays for reclaim: eviction then sleeps on no
 * lock and changes no disk. */
static bool evict_unused(struct list_head *link, void *sb)
{
	struct inode *inode = list_entry(link, struct inode, lru);

	if (READ_ONCE(inode->data.nr_pages) && !(READ_ONCE(inode->flags) & I_DIRTY))
		invalidate_inode_pages(&inode->data);
	spin_lock(&inode->spin);
	bool claimed =
		smp_load_acquire(&inode->refcount.counter) == 1 && /* others are through with it */
		(sb ||
		 (!READ_ONCE(inode->data.nr_pages) && !(inode->flags & I_DIRTY) && inode->nlink));
	if (claimed) {
		atomic_dec(&inode->refcount);
		inode->flags |= I_FREEING;
	}
	spin_unlock(&inode->spin);
	if (claimed)
		evict(inode);
	else
		iput(inode);
	return claimed;
}

/* ---- writing back ---------------------------------------------------------------------------- */

void __mark_inode_dirty(struct inode *inode)
{
	struct super_block *sb = inode->sb;

	guard(spinlock, &sb->inodes_lock);
	guard(spinlock, &inode->spin);
	inode->flags |= I_DIRTY;
	/* A memory file system has nowhere to write to. */
	if (sb->op->write_inode && !(inode->flags & I_FREEING) && list_empty(&inode->dirty_link))
		list_add(&inode->dirty_link, &sb->dirty);
}

static void end_writing(struct inode *inode)
{
	struct super_block *sb = inode->sb;

	spin_lock(&sb->inodes_lock);
	spin_lock(&inode->spin);
	if (!(inode->flags & I_DIRTY))
		list_del_init(&inode->dirty_link);
	inode->flags &= ~(u32)I_WRITING;
	spin_unlock(&inode->spin);
	spin_unlock(&sb->inodes_lock);
	wake_up(&inode_wait);
}

int write_inode_now(struct inode *inode)
{
	int error = 0;

	if (!inode->sb->op->write_inode)
		return 0;
	/* One at a time writes an inode back, and until he has finished it stays on sb->dirty: so a
	 * sync that comes meanwhile finds it there, and waits for him, before it looks whether
	 * anything is left to be done. */
	wait_event(inode_wait, !(inode_change_flags(inode, I_WRITING, 0) & I_WRITING));
	bool dirty = inode_change_flags(inode, 0, I_DIRTY) & I_DIRTY;
	if (inode->data.ops) /* even if no page is left: one may have failed to be written */
		error = page_cache_sync(&inode->data);
	/* mapping blocks for the pages may have set it */
	if ((inode_change_flags(inode, 0, I_DIRTY) & I_DIRTY) || dirty) {
		int second = inode->sb->op->write_inode(inode);

		if (unlikely(second == -ENOMEM))
			/* not lost: the next sync tries again */
			__mark_inode_dirty(inode);
		else if (unlikely(second)) /* it is: whoever syncs it is told */
			mapping_set_error(&inode->data, second);
		error = error ? error : second;
	}
	if (!list_empty(&inode->data.dirty_pages)) /* that became so meanwhile, or failed */
		__mark_inode_dirty(inode);
	end_writing(inode);
	return error;
}

/* The inode that has been dirty for longest, with a reference; moved behind all others, in case it
 * stays dirty. */
static struct inode *next_dirty(struct super_block *sb)
{
	guard(spinlock, &sb->inodes_lock);
	while (!list_empty(&sb->dirty)) {
		struct inode *inode = list_last_entry(&sb->dirty, struct inode, dirty_link);

		list_del_init(&inode->dirty_link);
		if (inode_get_live(inode)) {
			list_add(&inode->dirty_link, &sb->dirty);
			return inode;
		}
	}
	return NULL;
}

/* The list is in order of becoming dirty: so many are to be written, and not those that follow
 * meanwhile. Only one at a time turns it round, or another's turn could hide some from us. */
int sync_inodes(struct super_block *sb)
{
	int left = 0, error = 0;
	struct inode *inode;

	guard(mutex, &sb->sync_lock);
	spin_lock(&sb->inodes_lock);
	list_for_each_entry (inode, &sb->dirty, dirty_link)
		left++;
	spin_unlock(&sb->inodes_lock);
	while (left-- > 0 && error != -ENOMEM && (inode = next_dirty(sb)) != NULL) {
		int one = write_inode_now(inode);

		error = error && one != -ENOMEM ? error : one;
		if (!atomic_add_unless(&inode->refcount, -1, 1))
			put_last(inode); /* write-back is what reclaim leaves some to */
		cond_resched();
	}
	return error;
}

/* ---- boot and checks ------------------------------------------------------------------------- */

DEFINE_HASH_CACHE(inode, INODE, "Inode", "inodes", "find_inode");

static u64 shrink_inodes(unsigned priority)
{
	return lru_reclaim(&inode_lru, 1ULL << priority);
}

void inode_cache_init(void)
{
	static struct shrinker shrinker = {.name = "inodes", .after_pages = shrink_inodes};

	lru_init(&inode_lru, "inode LRU");
	shrinker_register(&shrinker);
	inode_table_create(&table, &inode_cache_hash);
}
