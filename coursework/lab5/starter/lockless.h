/*
 * lockless.h - lab 5: a table of chains in which who looks takes no lock. As it is handed out it is
 * right as long as everybody has the bucket's lock, and wrong as soon as who looks does without.
 *
 * Caches: dentry
 * Source: lab 5.
 *
 * Locks: global bucket rcu. Insert and remove hold the bucket's lock, find holds nothing. Objects
 * are not freed before all lookups have ended that began before they were removed; but they may
 * be inserted again at once, with another key, and in another bucket.
 */
#include "hash/table/template.h"
#include TABLE_LOCK_HEADER

struct TABLE {
	struct T(locks) locks;	        /* first in here: no offset to add */
	struct lockless_link **buckets; /* cache->entries of them; all NULL at first */
	struct hash_cache *cache;
};

#include "hash/table/bucket_locks.h"

/* The pointer to the first one's link. */
static __always_inline struct lockless_link **T(chain)(struct TABLE *table, u32 bucket)
{
	hash_check_bucket(table->cache, bucket);
	return &table->buckets[bucket];
}

/* *steps grows by the objects visited, the one found included. */
static __always_inline TABLE_OBJECT *T(find)(
	struct TABLE *table, struct T(root) * root, u32 bucket, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), u64 *steps)
{
	for (struct lockless_link *link = *T(chain)(table, bucket); link; link = link->next) {
		TABLE_OBJECT *object = container_of(link, TABLE_OBJECT, TABLE_LINK);

		++*steps;
		if (compare(object, key) == 0)
			return object;
	}
	return NULL;
}

static __always_inline void T(insert)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct lockless_link *link = &object->TABLE_LINK, **head = T(chain)(table, bucket);
	struct lockless_link *first = *head;

	*head = link;
	link->previous = head;
	if (first)
		first->previous = &link->next;
	link->next = first;
}

static __always_inline void T(remove)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct lockless_link *link = &object->TABLE_LINK;

	*link->previous = link->next;
	if (link->next)
		link->next->previous = link->previous;
	link->next = NULL;
	link->previous = NULL;
}

/* For the statistics: visit the size of every bucket, one after the other. */
static __maybe_unused void T(walk)(void *instance, void (*visit)(u64 size, void *argument),
				   void *argument)
{
	struct TABLE *table = instance;

	for (u64 bucket = 0; bucket < table->cache->entries; bucket++) {
		u64 size = 0;

		T(lock_to_read)(table, NULL, (u32)bucket);
		for (struct lockless_link *at = table->buckets[bucket]; at; at = at->next)
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
