/*
 * tables.c - a table structure against a plain array: random inserts, removes, finds and walks.
 *
 * -DTABLE_HEADER names the structure; -DTREE says that it is ordered and balanced, -DTAGGED that
 * its buckets have tags, which is checked after each step. Prints "ok", or what is wrong. With the
 * argument "out-of-range" a bucket outside the table is asked for.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include TABLE_LINK_HEADER
#include "core/kernel.h"

#ifdef CHECKED /* as in a debug build, but for the locks */
#define CONFIG_DEBUG 1
#endif
#include "hash/cache.h"
#include "hash/report.c"

#define OBJECTS 400
#ifdef TAGGED
#define BUCKETS 32
#define ENTRIES (BUCKETS * 8) /* it makes eight into one bucket */
#else
#define BUCKETS 16
#define ENTRIES BUCKETS
#endif

/* As hash_choice.h does it for a cache. */
#define test_table_root TABLE_ROOT

struct object {
	u64 number;
	struct TABLE_LINK_STRUCT link;
	bool there;
};
struct key {
	u64 number;
};

#define TABLE test_table
#define TABLE_OBJECT struct object
#define TABLE_LINK link
#define TABLE_KEY struct key
#define TABLE_ORDER(object) ((object)->number)
#define TABLE_TAG(object) ((object)->number / 3)
#define TABLE_KEY_TAG(key) ((key)->number / 3)
#include TABLE_HEADER

struct cpu cpus[NR_CPUS];
bool hosted_irqs_off;
static struct object objects[OBJECTS];
static struct test_table table;
static struct TABLE_ROOT root;
static struct hash_cache cache = {.name = "page", .title = "Page", .function = CONFIG_PAGE_HASH};
static unsigned present;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("line %d: not %s\n", __LINE__, #condition);                         \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

void panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	printf("\n");
	exit(3);
}

void printk(const char *format, ...)
{
}

void text_printf(struct text *text, const char *format, ...)
{
}

void *hash_cache_create(struct hash_cache *c, size_t entry_bytes)
{
	c->entries = ENTRIES;
	c->bits = ilog2(ENTRIES);
	return calloc(ENTRIES, entry_bytes);
}

struct lock_class lock_classes[LOCK_CLASSES];

u16 lock_class(const char *name)
{
	return 0;
}

/* The lock that is held so that somebody has to wait for it, and how often that came: he gets it.
 */
static spinlock_t *held;
static unsigned waits;

void spin_lock_wait(spinlock_t *lock, u8 ticket)
{
	if (lock != held)
		panic("a lock that nobody holds is taken");
	waits++;
}

static __always_inline int compare(const struct object *object, const struct key *key)
{
	if (object->number == key->number)
		return 0;
	return object->number < key->number ? -1 : 1;
}

static u32 bucket_of(u64 number)
{
	return (u32)(number * 7 % BUCKETS);
}

static u64 draw(void)
{
	static u64 state = 42;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

#ifdef TREE
/* The levels are as rbtree.h says; keys in (low, high). */
static unsigned check_level(struct rbtree_link *node, u64 low, u64 high)
{
	u64 number;
	unsigned left, right;

	if (!node)
		return 0;
	number = container_of(node, struct object, link)->number;
	CHECK(number + 1 > low && number < high);
	left = check_level(node->child[0], low, number);
	right = check_level(node->child[1], number + 1, high);
	CHECK(left + 1 == node->level);
	CHECK(right + 1 == node->level || right == node->level);
	CHECK(right < node->level || test_table_level(node->child[1]->child[1]) < right);
	return node->level;
}

static void check_structure(void)
{
	check_level(root.node, 0, ~0ull);
	CHECK(root.count == present);
	CHECK(list_empty(&table.roots) == (present == 0));
}
#elif defined(TAGGED)
/* Each place has the tag of its object or, if it is free, none. Behind it are those that its tag
 * has led there when all places were taken; they are counted. */
static void check_bucket(const struct test_table_bucket *bucket)
{
	u64 rest = 0;

	for (unsigned place = 0; place < TAGGED_PLACES; place++) {
		struct tagged_link *const *from = &bucket->places[place], *link = *from;
		u64 tag = bucket->tags >> place * 8 & 0xff;

		CHECK((tag == 0) == (link == NULL));
		for (; link; from = &link->next, link = *from) {
			u64 mark = container_of(link, struct object, link)->number / 3 % 256 | 1;
			bool first = from == &bucket->places[place];

			CHECK(link->previous == from);
			CHECK(first ? mark == tag : mark * TAGGED_PLACES / 256 == place);
			rest += !first;
		}
	}
	CHECK(bucket->tags >> TAGGED_REST == rest);
}

static void check_structure(void)
{
	CHECK(cache.entries == BUCKETS && cache.bits == ilog2(BUCKETS));
	for (unsigned bucket = 0; bucket < BUCKETS; bucket++)
		check_bucket(&table.buckets[bucket]);
}
#else
static void check_structure(void)
{
}
#endif

static void add_size(u64 size, void *total)
{
	*(u64 *)total += size;
}

static void find_one(struct object *object)
{
	struct key key = {object->number};
	u64 steps = 0;
	struct object *found =
		test_table_find(&table, &root, bucket_of(object->number), &key, compare, &steps);

	CHECK(found == (object->there ? object : NULL));
	CHECK(steps <= present);
	CHECK(!found || steps >= 1);
#ifdef TREE
	CHECK(steps <= 2 * (u64)ilog2(present + 1) + 2);
#endif
}

static void change_one(struct object *object)
{
	u32 bucket = bucket_of(object->number);

	test_table_lock(&table, &root, bucket);
	if (object->there) {
		test_table_remove(&table, &root, bucket, object);
		present--;
	} else {
		test_table_insert(&table, &root, bucket, object);
		present++;
	}
	object->there = !object->there;
	test_table_unlock(&table, &root, bucket);
}

static void check_walks(void)
{
	u64 total = 0;

	cache.walk(&table, add_size, &total);
	CHECK(total == present);
#ifndef TREE
	total = 0;
	for (u32 bucket = 0; bucket < BUCKETS; bucket++) {
		struct object *object = NULL;

		while ((object = test_table_next(&table, bucket, object))) {
			CHECK(object->there && bucket_of(object->number) == bucket);
			total++;
		}
	}
	CHECK(total == present);
#endif
}

/* A walk may follow links only under the lock of those who change them. */
static void check_walk_waits_for(spinlock_t *lock)
{
	held = lock;
	waits = 0;
	spin_lock(lock);
	check_walks();
	CHECK(waits == 1);
	held = NULL; /* the walk has released it */
}

static void check_walk_takes_locks(void)
{
#ifdef TREE
	check_walk_waits_for(&table.list_lock);
#else
	for (u32 bucket = 0; bucket < BUCKETS; bucket++)
		check_walk_waits_for(table.locks.of_bucket[bucket % BUCKET_LOCKS]);
#endif
}

#ifdef TREE
/* The list of trees is everybody's: the first object of a tree and the last wait for its lock, no
 * others. */
static void check_list_is_locked(void)
{
	for (unsigned i = 0; i < 4; i++) {
		bool first_or_last = i == 0 || i == 3;

		held = &table.list_lock;
		waits = 0;
		spin_lock(held);
		change_one(&objects[i % 2]);
		CHECK(waits == first_or_last);
		if (!first_or_last)
			spin_unlock(held);
		held = NULL;
	}
}
#endif

int main(int argc, char **argv)
{
	test_table_root_init(&root);
	test_table_create(&table, &cache);
	if (argc > 1 && strcmp(argv[1], "out-of-range") == 0) {
		u64 steps = 0;

		test_table_find(&table, &root, page_hash(0x1000, 0x2000, cache.bits),
				&(struct key){0}, compare, &steps);
		printf("nobody noticed\n");
		return 0;
	}
	for (unsigned i = 0; i < OBJECTS; i++)
		objects[i].number = i * 3 % OBJECTS + (i % 7 ? 0 : OBJECTS * (u64)i);
#ifdef TREE
	check_list_is_locked();
#endif
	for (unsigned round = 0; round < 60000; round++) {
		/* Fill up, thin out, fill up again: all sizes are met. */
		struct object *object = &objects[draw() % OBJECTS];
		bool filling = round / 4000 % 2 == 0;

		if (object->there != filling || draw() % 4 == 0)
			change_one(object);
		find_one(&objects[draw() % OBJECTS]);
		if (round % 16 == 0) {
			check_structure();
			check_walks();
		}
		if (round % 4000 == 0)
			check_walk_takes_locks();
	}
	for (unsigned i = 0; i < OBJECTS; i++)
		if (objects[i].there)
			change_one(&objects[i]);
	check_structure();
	check_walks();
	printf("ok\n");
	return 0;
}
