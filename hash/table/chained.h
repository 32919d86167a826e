/*
 * chained.h - separate chaining: an array of buckets, each the head of a list of objects.
 *
 * Source: the tables of Linux 2.2 and 2.4 (Lever 1999, section 3). Insertion is last in, first out, at the
 * head; a lookup visits a bucket's objects from the head. Cost: a hit 1 + (n-1)/2m objects, a miss n/m.
 * Weakness: every object visited is a cache miss of its own; the size is fixed at boot.
 *
 * Lock scheme: bucket locks. Spinlocks in an array apart, one for each bucket in small tables, shared by
 * buckets with equal low bits in large ones, so that the array of buckets stays a bare array of pointers.
 *
 * This header is also the model for other structures: README.md lists what one must define. The macros take
 * the object's type and the member that links it; <generated/hash_choice.h> supplies both for each cache.
 */
#ifndef HASH_TABLE_CHAINED_H
#define HASH_TABLE_CHAINED_H

#include "kernel/core/spinlock.h"
#include "kernel/core/types.h"

struct hash_cache;

#define CHAINED_NEEDS_ROOT 0 /* nothing hangs on an owner */

struct chained_link {
	struct chained_link *next;
	struct chained_link **pprev; /* what points at us: the bucket, or the previous link's next */
};

struct chained_root {
};

struct chained_table {
	struct chained_link **buckets;
	spinlock_t *locks;
	u32 lock_mask;
};

/* Boot: allocate through hash_cache_create(). Panics when not one page can be had. */
void chained_create_table(struct chained_table *table, struct hash_cache *cache);

#define chained_create(table, cache) chained_create_table(table, cache)
#define chained_root_init(root) ((void)(root))

#define chained_lock(table, root, bucket)                                                          \
	((void)(root), spin_lock(&(table)->locks[(bucket) & (table)->lock_mask]))
#define chained_unlock(table, root, bucket)                                                        \
	((void)(root), spin_unlock(&(table)->locks[(bucket) & (table)->lock_mask]))

/* The first object of @bucket for which compare(object, key) is 0, or NULL; *steps += objects visited. */
#define chained_find(type, member, table, root, bucket, key, compare, steps)                       \
	({                                                                                         \
		struct chained_link *_link = (table)->buckets[bucket];                             \
		type *_found = NULL;                                                               \
		(void)(root);                                                                      \
		for (; _link; _link = _link->next) {                                               \
			type *_object = container_of(_link, type, member.impl);                    \
			HASH_STATS_ONLY(++*(steps);)                                               \
			if (compare(_object, key) == 0) {                                          \
				_found = _object;                                                  \
				break;                                                             \
			}                                                                          \
		}                                                                                  \
		(void)(steps);                                                                     \
		_found;                                                                            \
	})

static __always_inline void chained_link_first(struct chained_link **head, struct chained_link *link)
{
	link->next = *head;
	link->pprev = head;
	if (link->next)
		link->next->pprev = &link->next;
	*head = link;
}

static __always_inline void chained_unlink(struct chained_link *link)
{
	*link->pprev = link->next;
	if (link->next)
		link->next->pprev = link->pprev;
	link->pprev = NULL;
}

#define chained_insert(type, member, table, root, bucket, object, key, compare)                    \
	((void)(root), (void)(key),                                                                \
	 chained_link_first(&(table)->buckets[bucket], &(object)->member.impl))
#define chained_remove(type, member, table, root, bucket, object)                                  \
	((void)(table), (void)(root), (void)(bucket), chained_unlink(&(object)->member.impl))

#define chained_for_each(type, member, table, root, bucket, object)                                \
	for (struct chained_link *_walk = (table)->buckets[bucket];                                \
	     _walk && ((object) = container_of(_walk, type, member.impl), true); _walk = _walk->next)

#endif /* HASH_TABLE_CHAINED_H */
