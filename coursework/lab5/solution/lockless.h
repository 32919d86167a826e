/*
 * lockless.h - a table of chains in which who looks takes no lock, and never misses what is there.
 *
 * Caches: dentry
 * Source: Linux's hlist_nulls (Dumazet 2008); the solution of lab 5. Cost: a comparison at the end
 * of a chain that is walked in vain. Memory: as chained.h.
 *
 * A chain ends in an odd number, which says whose end it is. Who looks and stands on an object
 * while it goes to another chain comes to that one's end, and begins again. New objects come in at
 * the head: so who is led from an object back to the head of his own chain sees some again, but
 * leaves none out.
 *
 * Locks: global bucket rcu. Insert and remove hold the bucket's lock, find holds nothing. Objects
 * are not freed before all lookups have ended that began before they were removed; but they may
 * be inserted again at once, with another key, and in another bucket.
 */
#include "hash/table/template.h"
#include TABLE_LOCK_HEADER

struct TABLE {
	struct T(locks) locks;	        /* first in here: no offset to add */
	struct lockless_link **buckets; /* cache->entries of them */
	struct hash_cache *cache;
};

#include "hash/table/bucket_locks.h"

/* The pointer to the first one's link. */
static __always_inline struct lockless_link **T(chain)(struct TABLE *table, u32 bucket)
{
	hash_check_bucket(table->cache, bucket);
	return &table->buckets[bucket];
}

static __always_inline struct lockless_link *T(end_of)(u32 bucket)
{
	return (struct lockless_link *)((uintptr_t)bucket * 2 + 1);
}

static __always_inline bool T(is_end)(const struct lockless_link *link)
{
	return (uintptr_t)link & 1;
}

/* *steps grows by the objects visited, the one found included. */
static __always_inline TABLE_OBJECT *T(find)(
	struct TABLE *table, struct T(root) * root, u32 bucket, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), u64 *steps)
{
	struct lockless_link **head = T(chain)(table, bucket), *link;

	do {
		for (link = smp_load_acquire(head); !T(is_end)(link);
		     link = smp_load_acquire(&link->next)) {
			TABLE_OBJECT *object = container_of(link, TABLE_OBJECT, TABLE_LINK);

			++*steps;
			if (compare(object, key) == 0)
				return object;
		}
	} while (link != T(end_of)(bucket));
	return NULL;
}

static __always_inline void T(insert)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct lockless_link *link = &object->TABLE_LINK, **head = T(chain)(table, bucket);
	struct lockless_link *first = *head;

	/* Whoever stands here since it was elsewhere sees what that led to, or all of this. */
	smp_store_release(&link->next, first);
	link->previous = head;
	if (!T(is_end)(first))
		first->previous = &link->next;
	smp_store_release(head, link);
}

static __always_inline void T(remove)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct lockless_link *link = &object->TABLE_LINK, *next = link->next;

	smp_store_release(link->previous, next);
	if (!T(is_end)(next))
		next->previous = link->previous;
	link->previous = NULL; /* link->next stays: it leads who stands here back into the chain */
}

/* For the statistics: visit the size of every bucket, one after the other. */
static __maybe_unused void T(walk)(void *instance, void (*visit)(u64 size, void *argument),
				   void *argument)
{
	struct TABLE *table = instance;

	for (u64 bucket = 0; bucket < table->cache->entries; bucket++) {
		u64 size = 0;

		T(lock_to_read)(table, NULL, (u32)bucket);
		for (struct lockless_link *at = table->buckets[bucket]; !T(is_end)(at);
		     at = at->next)
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
	for (u64 bucket = 0; bucket < cache->entries; bucket++)
		table->buckets[bucket] = T(end_of)((u32)bucket);
	T(locks_create)(&table->locks);
}
