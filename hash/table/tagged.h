/*
 * tagged.h - a hash table whose buckets are a cache line each: seven objects, with a byte of each
 * one's key, the tag, beside them; further ones in chains behind these.
 *
 * Caches: path
 * Source: the tags are MemC3's (Fan, Andersen and Kaminsky 2013, section 3.1), without its moving
 * of objects from bucket to bucket, which readers without locks would have to be told of. A
 * bucket's tags are a word, and are compared all at once as one looks for a byte in a word: tables
 * like F14 and Abseil's have vector registers for that, which the kernel has not. Cost: a lookup
 * reads its bucket's line and, but for one of 128 others there, no object that is not the one it
 * looks for: so it hits after one line and an object, and misses after one line, until the bucket
 * is full. 15 instructions more than the first step in a chain. Memory: eight words a bucket, two
 * an object; there are an eighth as many buckets as chained.h would have, in the memory that was
 * asked for. Weakness: in a full bucket what is not in a place of it takes longer than in a chain;
 * and an object's tag has to be cheap to get at: only paths have told theirs so far.
 *
 * Instantiated as README.md in this folder says, and with two macros more: TABLE_TAG(object) and
 * TABLE_KEY_TAG(key), a number of eight bits that is the same for an object and for its key; the
 * lowest bit is not used. It should not be what chooses the bucket.
 *
 * Locks: global bucket rwlock sequence rcu (hash/lock; TABLE_LOCK_HEADER). Insert and remove hold
 * the bucket's lock. A bucket may be searched without it by a reader that checks afterwards what it
 * found and whose objects are not freed meanwhile: an object is complete before it is published, a
 * place has its object before its tag is there, and a removed one still leads back into its chain.
 */
#include "hash/table/template.h"
#include TABLE_LOCK_HEADER

#define TAGGED_PLACES 7
#define TAGGED_ONES 0x01010101010101ull /* the lowest bit of each place's tag */
#define TAGGED_REST (8 * TAGGED_PLACES)
#define TAGGED_MANY 0xffull /* so many are not counted any more */

struct T(bucket) {
	/* A byte of each place, the first one's the lowest, 0: it is free; above them the number of
	 * objects that are in no place, but behind one in its chain. */
	u64 tags;
	struct tagged_link *places[TAGGED_PLACES];
};
static_assert(sizeof(struct T(bucket)) == 64 || sizeof(void *) < 8); /* the playground has 4 */

struct TABLE {
	/* First in here: no offset to add. */
	struct T(locks) locks;
	struct T(bucket) * buckets; /* set at boot, as is the next */
	struct hash_cache *cache;
};

#include "hash/table/bucket_locks.h"

static __always_inline struct T(bucket) * T(at)(struct TABLE *table, u32 bucket)
{
	hash_check_bucket(table->cache, bucket);
	return &table->buckets[bucket];
}

/* What a place has in place of 0. */
static __always_inline u64 T(mark)(u64 tag)
{
	return (tag & 0xff) | 1;
}

/* Behind which place an object stands, if all are taken. */
static __always_inline unsigned T(chain_of)(u64 mark)
{
	return (unsigned)(mark * TAGGED_PLACES / 256);
}

/* The places among @tags that have @mark: of each the highest bit of its byte. The lowest of them
 * is one; another may be free, which only the place itself tells. */
static __always_inline u64 T(having)(u64 tags, u64 mark)
{
	u64 differing = tags ^ mark * TAGGED_ONES;

	return (differing - TAGGED_ONES) & ~differing & TAGGED_ONES << 7;
}

/* The first of such places. */
static __always_inline unsigned T(first_of)(u64 having)
{
	return (unsigned)__builtin_ctzll(having) / 8;
}

/* *steps grows by the objects visited, the one found included. */
static __always_inline TABLE_OBJECT *T(find)(
	struct TABLE *table, struct T(root) * root, u32 bucket, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), u64 *steps)
{
	struct T(bucket) *at = T(at)(table, bucket);
	u64 tags = smp_load_acquire(&at->tags), mark = T(mark)(TABLE_KEY_TAG(key));
	struct tagged_link *link;

	for (u64 having = T(having)(tags, mark); having; having &= having - 1) {
		link = READ_ONCE(at->places[T(first_of)(having)]);
		if (unlikely(!link))
			continue; /* it was taken out meanwhile */
		++*steps;
		if (compare(container_of(link, TABLE_OBJECT, TABLE_LINK), key) == 0)
			goto found;
	}
	if (likely(!(tags >> TAGGED_REST)))
		return NULL;
	for (link = READ_ONCE(at->places[T(chain_of)(mark)]); link; link = READ_ONCE(link->next)) {
		++*steps;
		if (compare(container_of(link, TABLE_OBJECT, TABLE_LINK), key) == 0)
			goto found;
	}
	return NULL;
found:;
	TABLE_OBJECT *object = container_of(link, TABLE_OBJECT, TABLE_LINK);

	if (!object)
		__builtin_unreachable(); /* saves the caller's look for NULL */
	return object;
}

/* @tags with one more, or fewer, behind the places. */
static __always_inline u64 T(count_rest)(u64 tags, u64 change)
{
	return tags >> TAGGED_REST == TAGGED_MANY ? tags : tags + (change << TAGGED_REST);
}

static __always_inline void T(insert)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct T(bucket) *at = T(at)(table, bucket);
	u64 mark = T(mark)(TABLE_TAG(object)), free = T(having)(at->tags, 0);
	unsigned place = free ? T(first_of)(free) : T(chain_of)(mark);
	struct tagged_link *link = &object->TABLE_LINK, **head = &at->places[place];

	if (!free)
		head = &(*head)->next;
	*link = (struct tagged_link){.next = *head, .previous = head};
	if (link->next)
		link->next->previous = &link->next;
	__atomic_store_n(head, link, __ATOMIC_RELEASE);
	smp_store_release(&at->tags,
			  free ? at->tags | mark << place * 8 : T(count_rest)(at->tags, 1));
}

/* The place that has @link; of one in a chain far more than there are. */
static __always_inline u64 T(place_of)(const struct T(bucket) * at, const struct tagged_link *link)
{
	return ((uintptr_t)link->previous - (uintptr_t)at->places) / sizeof(*at->places);
}

/* The first behind a place gets into that; its tag comes last, so that it is found at any time. */
static __always_inline void T(remove)(struct TABLE *table, struct T(root) * root, u32 bucket,
				      TABLE_OBJECT *object)
{
	struct T(bucket) *at = T(at)(table, bucket);
	struct tagged_link *link = &object->TABLE_LINK, *next = link->next;
	u64 place = T(place_of)(at, link), tags = at->tags;

	if (place < TAGGED_PLACES)
		tags &= ~(0xffull << place * 8);
	if (place < TAGGED_PLACES && next)
		tags |= T(mark)(TABLE_TAG(container_of(next, TABLE_OBJECT, TABLE_LINK)))
			<< place * 8;
	if (place >= TAGGED_PLACES || next)
		tags = T(count_rest)(tags, -1ull);
	WRITE_ONCE(*link->previous, next);
	if (next)
		next->previous = link->previous;
	link->previous = NULL; /* link->next stays for readers that stand here */
	smp_store_release(&at->tags, tags);
}

/* What stands in @bucket, whose lock is held, behind @object (NULL: first); NULL: nothing. */
static __maybe_unused TABLE_OBJECT *T(next)(struct TABLE *table, u32 bucket, TABLE_OBJECT *object)
{
	struct T(bucket) *at = T(at)(table, bucket);
	struct tagged_link *link = object ? &object->TABLE_LINK : NULL;
	struct tagged_link *next = link ? link->next : NULL;
	u64 place = 0;

	if (link && !next) { /* a chain has ended: which place's was it? */
		while (T(place_of)(at, link) >= TAGGED_PLACES)
			link = container_of(link->previous, struct tagged_link, next);
		place = T(place_of)(at, link) + 1;
	}
	for (; !next && place < TAGGED_PLACES; place++)
		next = at->places[place];
	return next ? container_of(next, TABLE_OBJECT, TABLE_LINK) : NULL;
}

/* For the statistics: visit the size of every bucket, one after the other. */
static __maybe_unused void T(walk)(void *instance, void (*visit)(u64 size, void *argument),
				   void *argument)
{
	struct TABLE *table = instance;

	for (u64 bucket = 0; bucket < table->cache->entries; bucket++) {
		u64 size = 0;

		T(lock_to_read)(table, NULL, (u32)bucket);
		for (TABLE_OBJECT *at = NULL; (at = T(next)(table, (u32)bucket, at));)
			size++;
		T(unlock_read)(table, NULL, (u32)bucket);
		visit(size, argument);
	}
}

/* At boot, before anyone uses the table: an eighth as many buckets as one of chains has, in as much
 * memory; but two at least, for which there is room, since no table has less than a page. */
static __maybe_unused void T(create)(struct TABLE *table, struct hash_cache *cache)
{
	cache->table = table;
	cache->walk = T(walk);
	table->cache = cache;
	table->buckets = hash_cache_create(cache, sizeof(struct tagged_link *));
	cache->bits = max(cache->bits, 4u) - 3;
	cache->entries = 1ull << cache->bits;
	T(locks_create)(&table->locks);
}
