/*
 * table.c - interleavings: lab 5's table, RING_TABLE, under tasks: one looks without a lock for what
 * is there all the while, one moves its neighbour to another chain and back, and removes another.
 * As the starter has it that goes wrong in several ways (docs/labs/5-lockless.md).
 */
#include "core/kernel.h"
#include "core/lock/rcu.h"
#include "core/memory/slab.h"
#include "coursework/lab5/starter/lockless_link.h"
#include "hosted/interleave/ring/ring.h"

struct entry {
	u64 number;
	struct lockless_link link;
	struct rcu_head rcu;
};

struct wanted {
	u64 number;
};

#define toy_table_root lockless_root
#define TABLE toy_table
#define TABLE_OBJECT struct entry
#define TABLE_LINK link
#define TABLE_KEY struct wanted
#define TABLE_LOCK_HEADER "hash/lock/rcu.h"
#include RING_TABLE

enum { HERE, THERE };

static struct hash_cache cache = {.name = "toy", .title = "Toy", .function = "none"};
static struct toy_table table;
static struct entry *stays, *moves, *goes;

static __always_inline int compare(const struct entry *entry, const struct wanted *wanted)
{
	const u64 number = READ_ONCE(entry->number);

	return number < wanted->number ? -1 : number > wanted->number;
}

static struct entry *look_up(u64 number)
{
	u64 steps = 0;

	return T(find)(&table, NULL, HERE, &(struct wanted){number}, compare, &steps);
}

static void put_in(struct entry *entry, u32 bucket, u64 number)
{
	T(lock)(&table, NULL, bucket);
	WRITE_ONCE(entry->number, number);
	T(insert)(&table, NULL, bucket, entry);
	T(unlock)(&table, NULL, bucket);
}

static void take_out(struct entry *entry, u32 bucket)
{
	T(lock)(&table, NULL, bucket);
	T(remove)(&table, NULL, bucket, entry);
	T(unlock)(&table, NULL, bucket);
}

static void prepare(void)
{
	hosted_init(1);
}

static void free_entry(struct rcu_head *head)
{
	kfree(container_of(head, struct entry, rcu));
}

static void begin(void)
{
	T(create)(&table, &cache);
	stays = kmalloc(sizeof(*stays), GFP_KERNEL);
	moves = kmalloc(sizeof(*moves), GFP_KERNEL);
	goes = kmalloc(sizeof(*goes), GFP_KERNEL);
	put_in(stays, HERE, 1);
	put_in(moves, HERE, 2);
	put_in(goes, HERE, 3);
}

static void end(void)
{
	take_out(stays, HERE);
	kfree(stays);
	kfree(moves);
}

static void look_for_it(void *unused)
{
	for (unsigned i = 0; i < 3; i++, ring_user()) {
		rcu_read_lock();
		CHECK(look_up(1) == stays);
		rcu_read_unlock();
	}
}

static void look_for_others(void *unused)
{
	for (unsigned i = 0; i < 3; i++, ring_user()) {
		struct entry *found;

		rcu_read_lock();
		found = look_up(3);
		CHECK(!found || found == goes);
		rcu_read_unlock();
	}
}

static void move_to_and_fro(void *unused)
{
	for (unsigned i = 0; i < 2; i++, ring_user()) {
		take_out(moves, HERE);
		put_in(moves, THERE, 20);
		ring_user();
		take_out(moves, THERE);
		if (!i)
			put_in(moves, HERE, 2);
	}
}

static void remove_it(void *unused)
{
	take_out(goes, HERE);
	call_rcu(&goes->rcu, free_entry);
}

/* A neighbour goes to another chain, with another key, and comes back. */
RING_PROGRAM(table_moved, prepare, 100)
{
	begin();
	task_start(look_for_it, NULL);
	task_start(move_to_and_fro, NULL);
	ring_run();
	take_out(goes, HERE);
	kfree(goes);
	end();
}

/* What is looked for is removed, and freed after a grace period. */
RING_PROGRAM(table_removed, prepare, 100)
{
	begin();
	task_start(look_for_it, NULL);
	task_start(look_for_others, NULL);
	task_start(remove_it, NULL);
	ring_run();
	take_out(moves, HERE);
	kfree(moves);
	moves = NULL;
	end();
}
