/*
 * chained.h - a hash table of chains: one list a bucket, new objects at its head. The baseline.
 *
 * Caches: page buffer inode dentry
 * Source: Linux 2.2 (Lever 1999, section 1). Cost: a lookup visits 1 + (n-1)/2m objects when it
 * hits and n/m when it misses, if the hash spreads them; memory: one pointer a bucket, two an
 * object. Weakness: each object visited is a cache miss; the table never grows.
 *
 * Instantiated once a cache; see README.md in this folder for the operations and the macros.
 *
 * Locks. Buckets share an array of spinlocks, bucket b that of index b modulo their number: enough
 * of them that CPUs rarely meet, few enough to stay in the cache. Insert and remove hold the
 * bucket's lock. A chain may be walked without it by a reader that checks afterwards what it found
 * and whose objects are not freed meanwhile: an object is complete before it is published, and a
 * removed one still leads back into its chain.
 */
#include "hash/table/template.h"

#ifndef CHAINED_LOCKS
#define CHAINED_LOCKS (16 * NR_CPUS)
#endif

struct TABLE {
	/* Each guards the chains of its buckets. First in here: no offset to add. */
	spinlock_t locks[CHAINED_LOCKS];
	struct chained_link **buckets; /* set at boot, as is the next */
	struct hash_cache *cache;
};

static __always_inline void T(check)(const struct TABLE *table, u32 bucket)
{
#ifdef CONFIG_DEBUG
	hash_check_bucket(table->cache, bucket);
#else
	(void)table, (void)bucket;
#endif
}

static __always_inline void T(root_init)(struct T(root) * root)
{
	(void)root;
}

static __always_inline spinlock_t *T(lock_of)(struct TABLE *table, u32 bucket)
{
	return &table->locks[bucket % CHAINED_LOCKS];
}

static __always_inline void T(lock)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	(void)root;
	T(check)(table, bucket);
	spin_lock(T(lock_of)(table, bucket));
}

static __always_inline void T(unlock)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	(void)root;
	spin_unlock(T(lock_of)(table, bucket));
}

/* Two buckets at once (an object moves), in an order that all agree on. */
static inline void T(lock_two)(struct TABLE *table, struct T(root) * root, u32 a, u32 b)
{
	spinlock_t *first = T(lock_of)(table, a), *second = T(lock_of)(table, b);

	(void)root;
	T(check)(table, a);
	T(check)(table, b);
	if (first > second) {
		spinlock_t *swap = first;

		first = second;
		second = swap;
	}
	spin_lock(first);
	if (first != second)
		spin_lock_nested(second, 1);
}

static inline void T(unlock_two)(struct TABLE *table, struct T(root) * root, u32 a, u32 b)
{
	(void)root;
	spin_unlock(T(lock_of)(table, a));
	if (T(lock_of)(table, a) != T(lock_of)(table, b))
		spin_unlock(T(lock_of)(table, b));
}

static __always_inline TABLE_OBJECT *T(object)(struct chained_link *link)
{
	return link ? container_of(link, TABLE_OBJECT, TABLE_LINK) : NULL;
}

static __always_inline TABLE_OBJECT *T(first)(struct TABLE *table, struct T(root) * root,
					      u32 bucket)
{
	(void)root;
	T(check)(table, bucket);
	return T(object)(READ_ONCE(table->buckets[bucket]));
}

static __always_inline TABLE_OBJECT *T(next)(struct TABLE *table, struct T(root) * root,
					     TABLE_OBJECT *object)
{
	(void)table, (void)root;
	return T(object)(READ_ONCE(object->TABLE_LINK.next));
}

/* *steps grows by the objects visited, the one found included. */
static __always_inline TABLE_OBJECT *T(find)(
	struct TABLE *table, struct T(root) * root, u32 bucket, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), u64 *steps)
{
	struct chained_link *link;

	(void)root;
	T(check)(table, bucket);
	for (link = READ_ONCE(table->buckets[bucket]); link; link = READ_ONCE(link->next)) {
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
				      TABLE_OBJECT *object, const TABLE_KEY *key,
				      int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *))
{
	struct chained_link *link = &object->TABLE_LINK, **head = &table->buckets[bucket];
	struct chained_link *next = *head;

	(void)root, (void)key, (void)compare;
	T(check)(table, bucket);
	link->next = next;
	link->previous = head;
	if (next)
		next->previous = &link->next;
	__atomic_store_n(head, link, __ATOMIC_RELEASE);
}

static __always_inline void T(remove)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct chained_link *link = &object->TABLE_LINK, *next = link->next;

	(void)table, (void)root, (void)bucket;
	WRITE_ONCE(*link->previous, next);
	if (next)
		next->previous = link->previous;
	link->previous = NULL; /* link->next stays for readers that stand here */
}

/* For the statistics: visit the size of every bucket, one after the other. */
static __maybe_unused void T(walk)(void *instance, void (*visit)(u64 size, void *argument),
				   void *argument)
{
	struct TABLE *table = instance;

	for (u64 bucket = 0; bucket < table->cache->entries; bucket++) {
		struct chained_link *link;
		u64 size = 0;

		T(lock)(table, NULL, (u32)bucket);
		for (link = table->buckets[bucket]; link; link = link->next)
			size++;
		T(unlock)(table, NULL, (u32)bucket);
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
	for (unsigned i = 0; i < CHAINED_LOCKS; i++)
		spin_lock_init(&table->locks[i], TABLE_STRING(TABLE));
}

#undef TABLE
#undef TABLE_OBJECT
#undef TABLE_LINK
#undef TABLE_KEY
