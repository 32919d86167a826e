/*
 * chained.h - a hash table of chains: one list a bucket, new objects at its head. The baseline.
 *
 * Caches: page buffer inode dentry swap path
 * Source: Linux 2.2 (Lever 1999, section 1). Cost: a lookup visits 1 + (n-1)/2m objects when it
 * hits and n/m when it misses, if the hash spreads them; memory: one pointer a bucket, two an
 * object. Weakness: each object visited is a cache miss; the table never grows.
 *
 * Instantiated once a cache; see README.md in this folder for the operations and the macros.
 *
 * Locks: global bucket rwlock sequence rcu (hash/lock; TABLE_LOCK_HEADER). Insert and remove hold
 * the bucket's lock. A chain may be walked without it by a reader that checks afterwards what it
 * found and whose objects are not freed meanwhile: an object is complete before it is published,
 * and a removed one still leads back into its chain.
 */
#include "hash/table/template.h"
#include TABLE_LOCK_HEADER

struct TABLE {
	/* First in here: no offset to add. */
	struct T(locks) locks;
	struct chained_link **buckets; /* set at boot, as is the next */
	struct hash_cache *cache;
};

#include "hash/table/bucket_locks.h"

static __always_inline struct chained_link **T(chain)(struct TABLE *table, u32 bucket)
{
	hash_check_bucket(table->cache, bucket);
	return &table->buckets[bucket];
}

/* *steps grows by the objects visited, the one found included. */
static __always_inline TABLE_OBJECT *T(find)(
	struct TABLE *table, struct T(root) * root, u32 bucket, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), u64 *steps)
{
	struct chained_link *link = READ_ONCE(*T(chain)(table, bucket));

	for (; link; link = READ_ONCE(link->next)) {
		TABLE_OBJECT *object = container_of(link, TABLE_OBJECT, TABLE_LINK);

		++*steps;
		if (compare(object, key) == 0) {
			if (!object)
				__builtin_unreachable(); /* saves the caller's look for NULL */
			return object;
		}
	}
	return NULL;
}

static __always_inline void T(insert)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct chained_link *link = &object->TABLE_LINK, **head = T(chain)(table, bucket);

	*link = (struct chained_link){.next = *head, .previous = head};
	if (link->next)
		link->next->previous = &link->next;
	__atomic_store_n(head, link, __ATOMIC_RELEASE);
}

static __always_inline void T(remove)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct chained_link *link = &object->TABLE_LINK, *next = link->next;

	WRITE_ONCE(*link->previous, next);
	if (next)
		next->previous = link->previous;
	link->previous = NULL; /* link->next stays for readers that stand here */
}

#ifdef CONFIG_DCACHE_FASTPATH
/* What stands in @bucket, whose lock is held, behind @object (NULL: first); NULL: nothing. */
static __maybe_unused TABLE_OBJECT *T(next)(struct TABLE *table, u32 bucket, TABLE_OBJECT *object)
{
	struct chained_link *link = object ? object->TABLE_LINK.next : *T(chain)(table, bucket);

	return link ? container_of(link, TABLE_OBJECT, TABLE_LINK) : NULL;
}
#endif

/* For the statistics: visit the size of every bucket, one after the other. */
static __maybe_unused void T(walk)(void *instance, void (*visit)(u64 size, void *argument),
				   void *argument)
{
	struct TABLE *table = instance;

	for (u64 bucket = 0; bucket < table->cache->entries; bucket++) {
		u64 size = 0;

		T(lock_to_read)(table, NULL, (u32)bucket);
		for (struct chained_link *at = table->buckets[bucket]; at; at = at->next)
			size++;
		T(unlock_read)(table, NULL, (u32)bucket);
		visit(size, argument);
	}
}

/* At boot, before anyone uses the table. */
static __maybe_unused void T(create)(struct TABLE *table, struct hash_cache *cache)
{
	cache->table = table;
	cache->walk = T(walk);
	table->cache = cache;
	table->buckets = hash_cache_create(cache, sizeof(*table->buckets));
	T(locks_create)(&table->locks);
}
