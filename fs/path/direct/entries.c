/* entries.c - the table of paths: entries come and go. See direct.h. */
#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/alias/alias.h"
#include "fs/path/direct/find.h"

#include "core/memory/shrinker.h"
#include "core/memory/slab.h"

#ifdef CONFIG_HASH_STATS
struct hash_counters path_counters[NR_CPUS];
#endif

DEFINE_HASH_CACHE(path, PATH, "Path", "paths", "direct_find");

struct path_table path_table_instance;
static struct kmem_cache *entry_slab;

/* ---- entering -------------------------------------------------------------------------------- */

static void free_entry(struct rcu_head *head)
{
	kmem_cache_free(entry_slab, container_of(head, struct direct_entry, rcu));
}

/* Between path_table_lock() and path_table_unlock(): @entry leaves the table, and then its dentry,
 * since who sees that this has none may free it. */
static void take_out(struct direct_entry *entry, u32 bucket)
{
	path_table_remove(&path_table_instance, NULL, bucket, entry);
	PATH_RECORD(HASH_REMOVE, entry, &entry->signature);
	HASH_COUNT(path, removes, 1);
	direct_void(entry);
	smp_store_release(&entry->path.dentry->direct[entry->place], NULL);
}

static __always_inline int compare_texts(const struct direct_entry *entry,
					 const struct path_key *key)
{
	return signatures_differ(&entry->signature, key->signature);
}

/* Between path_table_lock() and path_table_unlock(): what is in the table by @signature leads there
 * no more, for another dentry is about to be entered by that. NULL, or who is to be freed. */
static struct direct_entry *take_out_former(const struct signature *signature, u32 bucket)
{
	const struct path_key key = {.signature = signature};
	u64 steps = 0;
	struct direct_entry *former =
		path_table_find(&path_table_instance, NULL, bucket, &key, compare_texts, &steps);

	if (former)
		take_out(former, bucket);
	return former;
}

/* No other entry is in @place of @dentry than one that has come since. */
static void forget_place(struct dentry *dentry, unsigned place)
{
	struct direct_entry *entry;

	rcu_read_lock();
	entry = READ_ONCE(dentry->direct[place]);
	if (entry) {
		u32 bucket = path_bucket(&entry->signature);

		path_table_lock(&path_table_instance, NULL, bucket);
		if (READ_ONCE(dentry->direct[place]) == entry)
			take_out(entry, bucket);
		else
			entry = NULL; /* somebody else has taken it out */
		path_table_unlock(&path_table_instance, NULL, bucket);
	}
	rcu_read_unlock();
	if (entry)
		call_rcu(&entry->rcu, free_entry);
}

/* Where another entry of @dentry goes: to an empty place, that of a void one, or of the oldest. */
static unsigned place_for(const struct dentry *dentry, u32 mount_sequence)
{
	unsigned best = 0;
	u64 oldest = ~0ull;

	rcu_read_lock();
	for (unsigned place = 0; place < CONFIG_DIRECT_PATHS; place++) {
		const struct direct_entry *entry = READ_ONCE(dentry->direct[place]);
		bool counts = entry && entry->mount_sequence == mount_sequence;
		u64 version = counts ? READ_ONCE(entry->version) : 0;

		if (version < oldest) {
			oldest = version;
			best = place;
		}
	}
	rcu_read_unlock();
	return best;
}

u64 direct_enter(const struct path *path, const struct signature *signature, u32 mount_sequence)
{
	struct direct_entry *entry = kmem_cache_alloc(entry_slab, GFP_KERNEL | GFP_NOWARN),
			    *none = NULL, *former = NULL;
	u32 bucket = path_bucket(signature), place = place_for(path->dentry, mount_sequence);
	u64 version = prefix_new_version();

	if (!entry)
		return 0;
	*entry = (struct direct_entry){.signature = *signature,
				       .path = *path,
				       .mount_sequence = mount_sequence,
				       .version = version | DIRECT_UNSURE,
				       .place = (u8)place};
	forget_place(path->dentry, place); /* another path */
	path_table_lock(&path_table_instance, NULL, bucket);
	bool first = __atomic_compare_exchange_n(&path->dentry->direct[place], &none, entry, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	if (first) {
		former = take_out_former(signature, bucket);
		path_table_insert(&path_table_instance, NULL, bucket, entry);
		PATH_RECORD(HASH_INSERT, entry, signature);
		HASH_COUNT(path, inserts, 1);
	}
	path_table_unlock(&path_table_instance, NULL, bucket);
	if (!first)
		kmem_cache_free(entry_slab, entry);
	if (former)
		call_rcu(&former->rcu, free_entry);
	return first ? version : 0;
}

/* ---- forgetting ------------------------------------------------------------------------------ */

void direct_forget(struct dentry *dentry)
{
	smp_mb(); /* the change is seen before the look: keep() does it the other way round */
	for (unsigned place = 0; place < CONFIG_DIRECT_PATHS; place++)
		if (unlikely(smp_load_acquire(&dentry->direct[place])))
			forget_place(dentry, place);
}

/* Empty @bucket: how many entries there were. */
static u64 forget_bucket(u32 bucket)
{
	struct direct_entry *entry;
	u64 count = 0;

	path_table_lock(&path_table_instance, NULL, bucket);
	while ((entry = path_table_next(&path_table_instance, bucket, NULL))) {
		take_out(entry, bucket);
		call_rcu(&entry->rcu, free_entry);
		count++;
	}
	path_table_unlock(&path_table_instance, NULL, bucket);
	return count;
}

u64 direct_forget_entries(void)
{
	u64 count = 0;

	for (u64 bucket = 0; bucket < path_cache_hash.entries; bucket++)
		count += forget_bucket((u32)bucket);
	return count;
}

u64 direct_forget_all(void)
{
	return alias_forget_all() + prefix_forget_all() + direct_forget_entries();
}

/* The last resort before memory is at an end: what is used is remembered again. */
static u64 shrink_at_last(unsigned priority)
{
	return priority ? 0 : direct_forget_all();
}

/* ---- boot ------------------------------------------------------------------------------------ */

static struct shrinker shrinker = {.name = "paths", .if_too_few = shrink_at_last};

void direct_init(void)
{
	signature_init();
	entry_slab = kmem_cache_create("direct_entry", sizeof(struct direct_entry), 16,
				       SLAB_RECLAIMABLE);
	alias_init();
	path_table_create(&path_table_instance, &path_cache_hash);
	shrinker_register(&shrinker);
}

#endif
