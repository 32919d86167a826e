/*
 * grace_periods.c - interleavings: grace periods (core/lock/rcu.h). What a reader has found stays
 * until he is through; what was given to call_rcu() is called, once; nobody waits for ever. And
 * what stands on them: numbers that CPUs share out (core/base/percpu.h).
 */
#include "core/base/percpu.h"
#include "core/lock/rcu.h"
#include "core/memory/slab.h"
#include "hosted/harness/harness.h"
#include "hosted/interleave/worlds/worlds.h"
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

/* ---- shares of CPUs ---------------------------------------------------------------------------
 */

#ifndef CONFIG_PERCPU_COUNTS
#define PERCPU_BATCH 32
#endif

static struct percpu_counter counter;
static atomic_t counted, begun_counting;

/* More than a CPU keeps to itself, where it does that. */
static void count_up(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < PERCPU_BATCH + ROUNDS; i++) {
		atomic_inc(&begun_counting);
		CHECK(percpu_counter_inc(&counter));
		atomic_inc(&counted);
	}
}

/* The sum is one that there was. */
static void sum_up(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 8 * ROUNDS; i++) {
		s64 least = atomic_read(&counted), sum = percpu_counter_sum(&counter);

		CHECK(sum >= least);
		CHECK(sum <= atomic_read(&begun_counting));
	}
}

RING_PROGRAM(percpu_sum, prepare, 100)
{
	memset(&counter, 0, sizeof(counter));
	percpu_counter_init(&counter, NO_LIMIT);
	atomic_set(&counted, 0);
	atomic_set(&begun_counting, 0);
	task_start(count_up, NULL);
	task_start(count_up, NULL);
	task_start(sum_up, NULL);
	ring_run();
	CHECK_EQUAL(percpu_counter_sum(&counter), 2 * (PERCPU_BATCH + ROUNDS));
}

/* What others have counted is taken back here. */
static void count_down(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * (PERCPU_BATCH + ROUNDS); i++)
		percpu_counter_add(&counter, -1);
	CHECK(percpu_counter_inc(&counter));
}

RING_PROGRAM(percpu_taken_back, prepare, 100)
{
	memset(&counter, 0, sizeof(counter));
	percpu_counter_init(&counter, 0);
	task_start(count_down, NULL);
	task_start(count_up, NULL);
	task_start(count_up, NULL);
	ring_run();
	CHECK_EQUAL(percpu_counter_sum(&counter), 1);
}

/* Three tasks want two thirds of what they could have, and never give it back. */
static void count_to_the_limit(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++)
		if (percpu_counter_inc(&counter))
			atomic_inc(&counted);
}

RING_PROGRAM(percpu_limit, prepare, 100)
{
	memset(&counter, 0, sizeof(counter));
	percpu_counter_init(&counter, 2 * ROUNDS);
	atomic_set(&counted, 0);
	for (unsigned i = 0; i < 3; i++)
		task_start(count_to_the_limit, NULL);
	ring_run();
	CHECK_EQUAL(atomic_read(&counted), 2 * ROUNDS);
	CHECK_EQUAL(percpu_counter_sum(&counter), 2 * ROUNDS);
}

static struct percpu_ref reference;
static atomic_t gone;

static void let_go(void)
{
	if (percpu_ref_put(&reference))
		atomic_inc(&gone);
}

/* Who holds one may take more, on whatever CPU; and gives all back. */
static void take_and_give(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		CHECK(percpu_ref_tryget(&reference));
		if (i % 2)
			ring_user();
		CHECK_EQUAL(atomic_read(&gone), 0);
		let_go();
	}
	let_go();
}

static void gather(void *unused)
{
	(void)unused;
	percpu_ref_gather(&reference);
	CHECK(percpu_ref_count(&reference) >= 1);
	CHECK(percpu_ref_count(&reference) <= 5);
	let_go();
}

RING_PROGRAM(percpu_references, prepare, 100)
{
	memset(&reference, 0, sizeof(reference));
	atomic_set(&gone, 0);
	atomic_set(&reference.count, 3); /* one of each task */
	percpu_ref_spread(&reference);
	task_start(take_and_give, NULL);
	task_start(take_and_give, NULL);
	task_start(gather, NULL);
	ring_run();
	CHECK_EQUAL(atomic_read(&gone), 1);
	CHECK_EQUAL(percpu_ref_count(&reference), 0);
}
