/*
 * linear.h - a table of chains in as many buckets as it begins with.
 *
 * Caches: page buffer inode
 * Source: the starter of lab 4. Cost: what its chains have. Weakness: it never grows.
 *
 * A cache asks for a bucket of 1 << bits, the largest table that there can be. Of these, only the
 * first `used` are in use: chain_of() says where what is asked for stands now.
 *
 * Locks: global rwlock. All of a table's functions but create and walk are called with its lock
 * held: by one at a time, or by any number of those that only find.
 */
#include "hash/table/template.h"
#include TABLE_LOCK_HEADER

#define LINEAR_FIRST 16u /* buckets to begin with; a power of two */

struct TABLE {
	struct T(locks) locks;	      /* first in here: no offset to add */
	struct linear_link **buckets; /* room for cache->entries; all NULL at first */
	struct hash_cache *cache;
	u32 used;    /* buckets in use: from 0 on */
	u64 objects; /* in all of them */
};

#include "hash/table/bucket_locks.h"

/* The chain in which an object belongs for which the cache asks for bucket @hash. */
static __always_inline struct linear_link **T(chain_of)(struct TABLE *table, u32 hash)
{
	hash_check_bucket(table->cache, hash);
	return &table->buckets[hash & (table->used - 1)];
}

/* *steps grows by the objects visited, the one found included. */
static __always_inline TABLE_OBJECT *T(find)(
	struct TABLE *table, struct T(root) * root, u32 hash, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), u64 *steps)
{
	for (struct linear_link *link = *T(chain_of)(table, hash); link; link = link->next) {
		TABLE_OBJECT *object = container_of(link, TABLE_OBJECT, TABLE_LINK);

		++*steps;
		if (compare(object, key) == 0)
			return object;
	}
	return NULL;
}

/* @link gets to the head of the chain. */
static __always_inline void T(push)(struct linear_link **head, struct linear_link *link)
{
	link->next = *head;
	link->previous = head;
	if (link->next)
		link->next->previous = &link->next;
	*head = link;
}

static __always_inline void T(take_out)(struct linear_link *link)
{
	*link->previous = link->next;
	if (link->next)
		link->next->previous = link->previous;
	link->previous = NULL;
}

static __always_inline void T(insert)(struct TABLE *table, struct T(root) * root, u32 hash,
				      TABLE_OBJECT *object)
{
	object->TABLE_LINK.hash = hash;
	T(push)(T(chain_of)(table, hash), &object->TABLE_LINK);
	table->objects++;
	/* Here it grows. */
}

static __always_inline void T(remove)(struct TABLE *table, struct T(root) * root, u32 hash,
				      TABLE_OBJECT *object)
{
	T(take_out)(&object->TABLE_LINK);
	table->objects--;
}

/* For the statistics: visit the size of every bucket in use. They call it without the lock. */
static __maybe_unused void T(walk)(void *instance, void (*visit)(u64 size, void *argument),
				   void *argument)
{
	struct TABLE *table = instance;

	T(lock_to_read)(table, NULL, 0);
	for (u32 bucket = 0; bucket < table->used; bucket++) {
		u64 size = 0;

		for (struct linear_link *at = table->buckets[bucket]; at; at = at->next)
			size++;
		visit(size, argument);
	}
	T(unlock_read)(table, NULL, 0);
}

/* At boot, before anyone uses the table. There is no other memory for buckets than this. */
static __maybe_unused void T(create)(struct TABLE *table, struct hash_cache *cache)
{
	cache->table = table;
	cache->walk = T(walk);
	table->cache = cache;
	table->buckets = hash_cache_create(cache, sizeof(*table->buckets));
	table->used = (u32)min((u64)LINEAR_FIRST, cache->entries);
	table->objects = 0;
	T(locks_create)(&table->locks);
}
