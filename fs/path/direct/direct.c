/* direct.c - direct lookup: found, remembered, and forgotten before it is wrong. See direct.h. */
#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/direct/find.h"

#include "fs/inode/lru.h"
#include "fs/inode/permission.h"
#include "core/memory/shrinker.h"
#include "core/memory/slab.h"
#include "core/random.h"

#ifdef CONFIG_HASH_STATS
struct hash_counters path_counters[NR_CPUS];
#endif

DEFINE_HASH_CACHE(path, PATH, "Path", "paths", "direct_find");

struct path_table path_table_instance;
static struct kmem_cache *entry_slab;
u64 signature_keys[SIGNATURE_WORDS][SIGNATURE_LIMBS];
struct signature signature_of_root;

struct direct_changes direct_changes;

/* ---- forgetting ------------------------------------------------------------------------------ */

static void free_entry(struct rcu_head *head)
{
	kmem_cache_free(entry_slab, container_of(head, struct direct_entry, rcu));
}

/* Take @entry out of the table, and then off its dentry: who sees that this has none may free it.
 * The bucket's lock is held. */
static void forget_locked(struct direct_entry *entry, u32 bucket)
{
	path_table_remove(&path_table_instance, NULL, bucket, entry);
	HASH_COUNT(path, removes, 1);
	smp_store_release(&entry->path.dentry->direct, NULL);
	call_rcu(&entry->rcu, free_entry);
}

void direct_forget(struct dentry *dentry)
{
	struct direct_entry *entry;

	smp_mb(); /* the change is seen before the look: keep() does it the other way round */
	if (likely(!smp_load_acquire(&dentry->direct)))
		return;
	rcu_read_lock();
	entry = READ_ONCE(dentry->direct);
	if (entry) {
		u32 bucket = path_bucket(&entry->signature);

		path_table_lock(&path_table_instance, NULL, bucket);
		if (READ_ONCE(dentry->direct) == entry) /* else somebody else took it out */
			forget_locked(entry, bucket);
		path_table_unlock(&path_table_instance, NULL, bucket);
	}
	rcu_read_unlock();
}

/* Empty @bucket: how many entries there were. */
static u64 forget_bucket(u32 bucket)
{
	struct chained_link *link;
	u64 count = 0;

	path_table_lock(&path_table_instance, NULL, bucket);
	while ((link = path_table_instance.buckets[bucket])) {
		forget_locked(container_of(link, struct direct_entry, hash_link), bucket);
		count++;
	}
	path_table_unlock(&path_table_instance, NULL, bucket);
	return count;
}

u64 direct_forget_all(void)
{
	u64 count = 0;

	for (u64 bucket = 0; bucket < path_cache_hash.entries; bucket++)
		count += forget_bucket((u32)bucket);
	return count;
}

/* The last resort before memory is at an end: what is used is remembered again. */
static u64 shrink_at_last(unsigned priority)
{
	return priority ? 0 : direct_forget_all();
}

/* What direct_change_begin() does to one of those below. */
static void change_one(struct dentry *dentry, enum direct_kind kind)
{
	struct direct_entry *entry = READ_ONCE(dentry->direct);

	if (kind == DIRECT_PLACE)
		direct_forget(dentry);
	else if (entry)
		WRITE_ONCE(entry->version, prefix_new_version());
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
	spin_lock(&parent->lock);
	link = parent->children.next;
	for (;;) {
		while (link != &parent->children) {
			child = list_entry(link, struct dentry, child_link);
			change_one(child, kind);
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

/* ---- remembering ----------------------------------------------------------------------------- */

/* Has nothing been changed since @walk began? */
static bool nothing_changed(const struct lockless_walk *walk)
{
	smp_mb(); /* what was done is seen before the look: direct_change_begin() the other way */
	return (u32)atomic_read(&direct_changes.begun) == walk->direct.changes &&
	       !read_seqcount_retry(&mount_sequence, walk->mount_sequence);
}

/* The version of @dentry's entry, *@entry, if that is of the path @signature through @mount; 0: of
 * another, or there is none. */
static u64 version_of(struct dentry *dentry, const struct mount *mount,
		      const struct signature *signature, u32 mount_sequence,
		      struct direct_entry **entry)
{
	u64 version = 0;

	rcu_read_lock();
	struct direct_entry *old = *entry = READ_ONCE(dentry->direct);
	if (old && old->path.mount == mount && old->mount_sequence == mount_sequence &&
	    !signatures_differ(&old->signature, signature)) {
		version = READ_ONCE(old->version);
		if (unlikely(prefix_is_old(version)))
			WRITE_ONCE(old->version, version = prefix_new_version());
	}
	rcu_read_unlock();
	return version;
}

/* Put @entry into the table, in place of what its dentry has. false: somebody else's was first. */
static bool add_entry(struct direct_entry *entry)
{
	u32 bucket = path_bucket(&entry->signature);
	struct dentry *dentry = entry->path.dentry;
	struct direct_entry *none = NULL;

	direct_forget(dentry);
	path_table_lock(&path_table_instance, NULL, bucket);
	bool first = __atomic_compare_exchange_n(&dentry->direct, &none, entry, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	if (first) {
		path_table_insert(&path_table_instance, NULL, bucket, entry);
		HASH_COUNT(path, inserts, 1);
	}
	path_table_unlock(&path_table_instance, NULL, bucket);
	return first;
}

/*
 * @path, which is referenced, gets an entry, or has it, if its dentry is still as @sequence says
 * and nothing has changed since @walk began; then, if @reached, current may reach it.
 */
static void keep(const struct path *path, const struct signature *signature,
		 const struct lockless_walk *walk, u32 sequence, bool reached)
{
	struct dentry *dentry = path->dentry;
	struct direct_entry *entry;
	u64 version = version_of(dentry, path->mount, signature, walk->mount_sequence, &entry);

	if (!version) {
		entry = kmem_cache_alloc(entry_slab, GFP_KERNEL | GFP_NOWARN);
		if (!entry)
			return;
		version = prefix_new_version();
		*entry = (struct direct_entry){.signature = *signature,
					       .path = *path,
					       .mount_sequence = walk->mount_sequence,
					       .version = version};
		if (!add_entry(entry)) {
			kmem_cache_free(entry_slab, entry);
			return;
		}
	}
	if (!nothing_changed(walk) || read_seqcount_retry(&dentry->sequence, sequence))
		direct_forget(dentry);
	else if (reached)
		prefix_remember(entry, version);
}

/* Is @text what its canonical path has: no empty component, no "." nor "..", no slash at the end?
 */
static bool is_canonical(const char *text)
{
	for (;;) {
		size_t length = 0;

		while (text[length] && text[length] != '/')
			length++;
		if (!length || (text[0] == '.' && (length == 1 || (length == 2 && text[1] == '.'))))
			return false;
		if (!text[length])
			return true;
		text += length + 1;
	}
}

/* If *@path is the root of a mount, go to the place that is mounted on. false: somewhere on the way
 * something else is mounted over it. */
static bool leave_mounts(struct path *path)
{
	const struct mount *from = NULL;

	while (mount_on(path) == from) {
		if (path->dentry != path->mount->root || path->mount->parent == path->mount)
			return true;
		from = path->mount;
		*path = (struct path){from->parent, from->mountpoint};
	}
	return false;
}

/*
 * The canonical path of @path, written in front of @at, where a NUL is, but not in front of @start;
 * and may current search all directories above? NULL: no path from the root leads there now, since
 * it was removed, unmounted, mounted over, moved out of what its mount shows, or is looked up anew
 * each time; or it does not fit. All as of one moment.
 */
static char *write_path(struct path path, char *at, const char *start, bool *reached)
{
	*reached = true;
	guard(spinlock, mount_lock());
	guard(spinlock, &dentry_tree_lock);
	while (leave_mounts(&path)) {
		const struct dentry *dentry = path.dentry, *parent = dentry->parent;
		size_t length = dentry->name_length;

		if (dentry == path.mount->root)
			return list_empty(&path.mount->link) ? NULL : at; /* NULL: off the tree */
		if (parent == dentry || (READ_ONCE(dentry->flags) & D_UNHASHED) ||
		    (size_t)(at - start) <= length)
			return NULL;
		if (*at)
			*--at = '/';
		at = memcpy(at - length, dentry->name, length);
		path.dentry = dentry->parent;

		struct inode *inode = READ_ONCE(parent->inode);
		if (!inode || may_search(inode))
			*reached = false;
	}
	return NULL;
}

/* *@sum: the signature of @path, which is referenced; *@reached: may current reach it? false: it
 * has none, or there is no memory. Sleeps. */
static bool sign(const struct path *path, struct signature *sum, bool *reached)
{
	char *buffer __free(kfree) = kzalloc(PATH_MAX + 8, GFP_KERNEL | GFP_NOWARN);

	if (!buffer)
		return false;
	const char *text = write_path(*path, buffer + PATH_MAX, buffer, reached);
	if (!text)
		return false;
	*sum = signature_of_root;
	if (*text)
		signature_go_on(sum, text);
	return true;
}

/* The start of a lookup, which is referenced, gets an entry, and who may reach it is remembered. */
static void know_start(const struct path *start, const struct lockless_walk *walk)
{
	struct signature signature;
	u32 sequence = read_seqcount_begin(&start->dentry->sequence);
	bool reached;

	if (sign(start, &signature, &reached))
		keep(start, &signature, walk, sequence, reached);
}

/* Where a lookup from @dfd begins, referenced: 0, -EBADF. */
static int start_of(int dfd, bool at_root, struct path *start)
{
	struct fs_context *fs = current->fs;

	if (!at_root && dfd != AT_FDCWD)
		return descriptor_path(dfd, LOOKUP_FD_PATH, start);
	context_path(start, fs, at_root ? &fs->root : &fs->cwd);
	return 0;
}

void direct_remember(const struct lockless_walk *walk, int dfd, const char *name,
		     const struct path *path, u32 sequence)
{
	struct path start __free(path) = {0};

	if (start_of(dfd, *name == '/', &start) || start.dentry != walk->direct.start)
		return; /* another thread has changed the directory */
	rcu_read_lock();
	const struct direct_entry *from = READ_ONCE(start.dentry->direct);
	bool reached = from && from == walk->direct.from && direct_allows(from);
	rcu_read_unlock();

	name = skip_slashes(name);
	if (!reached)
		know_start(&start, walk);
	else if (is_canonical(name))
		keep(path, &walk->direct.signature, walk, sequence, true);
}

void direct_end_absent(const struct lockless_walk *walk, int dfd, const char *name)
{
	struct path path = {walk->path.mount, walk->special};
	const struct component *last = walk->component;
	bool known = walk->direct.tried && !walk->links && path.dentry &&
		     !*skip_slashes(last->name + last->length) &&
		     atomic_inc_not_zero(&path.dentry->refcount);
	bool held = known && percpu_ref_tryget(&path.mount->references);

	rcu_read_unlock();
	if (held) {
		direct_remember(walk, dfd, name, &path, walk->special_sequence);
		path_put(&path);
	} else if (known) {
		dput(path.dentry);
	}
}

/* ---- checks ---------------------------------------------------------------------------------- */

#if defined(CONFIG_DEBUG) || defined(HOSTED)
static u64 entries_of_dentries;

static void check_dentry(const struct dentry *dentry)
{
	const struct direct_entry *entry = dentry->direct;
	struct signature signature;
	bool reached;

	if (!entry)
		return;
	entries_of_dentries++;
	BUG_ON(entry->path.dentry != dentry);
	if (entry->mount_sequence != mount_sequence.sequence)
		return; /* it is void */
	BUG_ON(!sign(&entry->path, &signature, &reached));
	BUG_ON(signature.length != entry->signature.length);
	BUG_ON(signatures_differ(&signature, &entry->signature));
}

static int check_root(struct super_block *sb)
{
	if (sb->root)
		check_dentry(sb->root);
	return 0;
}

static void add_size(u64 size, void *sum)
{
	*(u64 *)sum += size;
}

void direct_check(void)
{
	const struct dentry *dentry;
	u64 entries = 0;

	entries_of_dentries = 0;
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		list_for_each_entry (dentry, &dentry_lru.of_cpu[cpu].objects, lru)
			check_dentry(dentry);
	for_each_super(check_root);
	path_cache_hash.walk(path_cache_hash.table, add_size, &entries);
	BUG_ON(entries != entries_of_dentries);
}
#endif

/* ---- boot ------------------------------------------------------------------------------------ */

static struct shrinker shrinker = {.name = "paths", .if_too_few = shrink_at_last};

void direct_init(void)
{
	u64 state = random_u64();

	for (unsigned i = 0; i < SIGNATURE_WORDS * SIGNATURE_LIMBS; i++)
		signature_keys[i / SIGNATURE_LIMBS][i % SIGNATURE_LIMBS] = splitmix64(&state);
	for (unsigned i = 0; i < SIGNATURE_LIMBS; i++)
		signature_of_root.limb[i] = splitmix64(&state);
	entry_slab = kmem_cache_create("direct_entry", sizeof(struct direct_entry), 16,
				       SLAB_RECLAIMABLE);
	path_table_create(&path_table_instance, &path_cache_hash);
	shrinker_register(&shrinker);
}

#endif
