/*
 * programs_rcu.c - interleavings: grace periods (core/lock/rcu.h). What a reader has found stays
 * until he is through; what was given to call_rcu() is called, once; nobody waits for ever.
 */
#include "core/lock/rcu.h"
#include "core/memory/slab.h"
#include "hosted/interleave/ring/ring.h"

#define ROUNDS 4

struct box {
	struct rcu_head rcu;
	unsigned number, copy;
};

static struct box *shown; /* by who changes it alone; read by all */
static atomic_t given, freed;

static struct box *new_box(unsigned number)
{
	struct box *box = kmalloc(sizeof(*box), GFP_KERNEL);

	*box = (struct box){.number = number, .copy = ~number};
	return box;
}

static void free_box(struct rcu_head *head)
{
	kfree(container_of(head, struct box, rcu));
	atomic_inc(&freed);
}

/* A point as the kernel has them, which programs have not: another may go on here. */
static void look_at(const struct box *box, enum ring_kind kind)
{
	ring_point((uintptr_t)box, kind, (u32)ring_place((uintptr_t)look_at));
}

static void read_boxes(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3 * ROUNDS; i++) {
		rcu_read_lock();
		const struct box *box = smp_load_acquire(&shown);
		/* others go on, and it is still there */
		look_at(box, RING_MARKED_READ);
		CHECK(!memory_wrong((uintptr_t)box));
		CHECK_EQUAL(box->number, ~box->copy);
		rcu_read_unlock();
		if (i % 3 == 0)
			ring_user();
	}
}

static void replace_boxes(void *unused)
{
	(void)unused;
	for (unsigned i = 1; i <= ROUNDS; i++) {
		struct box *old = shown;

		smp_store_release(&shown, new_box(i));
		look_at(old, RING_MARKED_WRITE);
		call_rcu(&old->rcu, free_box);
		if (i % 2)
			ring_user();
	}
	rcu_barrier();
	CHECK_EQUAL(atomic_read(&freed), ROUNDS);
}

static void replace_and_wait(void *unused)
{
	(void)unused;
	for (unsigned i = 1; i <= ROUNDS; i++) {
		struct box *old = shown;

		smp_store_release(&shown, new_box(i));
		synchronize_rcu();
		look_at(old, RING_MARKED_WRITE);
		kfree(old);
	}
}

static void run_boxes(void (*change)(void *))
{
	atomic_set(&freed, 0);
	shown = new_box(0);
	task_start(read_boxes, NULL);
	task_start(read_boxes, NULL);
	task_start(change, NULL);
	ring_run();
	kfree(shown);
	leak_check();
}

static void prepare(void)
{
	hosted_init(1);
	leak_mark();
}

RING_PROGRAM(rcu_callbacks, prepare, 100)
{
	run_boxes(replace_boxes);
}

RING_PROGRAM(rcu_waits, prepare, 100)
{
	run_boxes(replace_and_wait);
}

/* Callbacks of several CPUs, one of which waits for all. */
static void only_free(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		call_rcu(&new_box(i)->rcu, free_box);
		atomic_inc(&given);
		if (i % 2)
			ring_user();
	}
}

static void free_and_wait(void *unused)
{
	only_free(unused);
	int before = atomic_read(&given);
	rcu_barrier();
	CHECK(atomic_read(&freed) >= before);
}

RING_PROGRAM(rcu_many, prepare, 100)
{
	atomic_set(&given, 0);
	atomic_set(&freed, 0);
	task_start(only_free, NULL);
	task_start(free_and_wait, NULL);
	task_start(free_and_wait, NULL);
	ring_run();
	leak_check();
	CHECK_EQUAL(atomic_read(&freed), 3 * ROUNDS);
}
