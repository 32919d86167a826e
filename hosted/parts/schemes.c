/*
 * schemes.c - a lock scheme of hash/lock under threads: four find, insert and remove in one small
 * table, counting what they do under the lock alone. Compiled with the thread sanitizer, which sees
 * a lock that lets two in.
 *
 * -DTABLE_LOCK_HEADER names the scheme. Prints "ok" and how often somebody had to wait.
 */
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel.h"
#include "core/lock/lockdep.h"
#include "hash/table/chained_link.h"

#define THREADS 4
#define OBJECTS 16 /* of each thread */
#define BUCKETS 2  /* so that threads meet */
#define ROUNDS 20000

struct object {
	u64 number;
	struct chained_link link;
};
struct key {
	u64 number;
};

#define test_table_root chained_root
#define TABLE test_table
#define TABLE_OBJECT struct object
#define TABLE_LINK link
#define TABLE_KEY struct key
#include "hash/table/chained.h"

struct cpu cpus[NR_CPUS];
bool hosted_irqs_off;
static struct test_table table;
static struct hash_cache cache;
static u64 changes[BUCKETS]; /* each under its bucket's lock */
static struct object objects[THREADS][OBJECTS];

void panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	exit(3);
}

void *hash_cache_create(struct hash_cache *c, size_t entry_bytes)
{
	c->entries = BUCKETS;
	c->bits = ilog2(BUCKETS);
	return calloc(BUCKETS, entry_bytes);
}

/* What core/lock/spinlock.c has, without its classes. */
bool panicking;
struct lock_class lock_classes[LOCK_CLASSES];

u16 lock_class(const char *name)
{
	return 1;
}

void spin_lock_wait(spinlock_t *lock, u8 ticket)
{
	u64 spins = 0;

	do
		for (; smp_load_acquire(&lock->state); spins++)
			sched_yield();
	while (__atomic_exchange_n(&lock->state, 1, __ATOMIC_ACQUIRE));
	lock_contended(lock->class, spins);
}

static __always_inline int compare(const struct object *object, const struct key *key)
{
	return object->number != key->number;
}

static struct object *find(u64 number, u32 bucket, u64 *changed)
{
	struct key key = {number};
	u64 steps = 0;

	test_table_lock_to_read(&table, NULL, bucket);
	struct object *found = test_table_find(&table, NULL, bucket, &key, compare, &steps);

	*changed = changes[bucket];
	test_table_unlock_read(&table, NULL, bucket);
	return found;
}

/* A thread's own objects come and go; it sees each of its own as it left it, and no other's count
 * of changes go back. */
static void *work(void *argument)
{
	struct object *own = argument;
	bool there[OBJECTS] = {false};
	u64 state = (u64)(own - objects[0]) + 1, seen[BUCKETS] = {0};

	for (unsigned round = 0; round < ROUNDS; round++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		unsigned i = (unsigned)(state >> 33) % OBJECTS;
		u32 bucket = (u32)own[i].number % BUCKETS;
		u64 changed;

		if ((find(own[i].number, bucket, &changed) == &own[i]) != there[i])
			panic("object %u is lost, or came back\n", i);
		if (changed < seen[bucket])
			panic("a change was lost\n");
		seen[bucket] = changed;
		if (state >> 62) /* three times in four only looked at */
			continue;
		test_table_lock(&table, NULL, bucket);
		if (there[i])
			test_table_remove(&table, NULL, bucket, &own[i]);
		else
			test_table_insert(&table, NULL, bucket, &own[i]);
		changes[bucket]++;
		test_table_unlock(&table, NULL, bucket);
		there[i] = !there[i];
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	test_table_create(&table, &cache);
	for (unsigned t = 0; t < THREADS; t++) {
		for (unsigned i = 0; i < OBJECTS; i++)
			objects[t][i].number = t * OBJECTS + i;
		pthread_create(&threads[t], NULL, work, objects[t]);
	}
	for (unsigned t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	printf("ok, %lld waits\n", (long long)lock_classes[1].contended.counter);
	return 0;
}
