/*
 * toys.c - interleavings: small programs with a planted defect, or without one, by which the
 * run-time itself is tested (test_interleave.py). Compiled with the hooks, as the kernel is.
 */
#include "core/kernel.h"
#include "core/sched/wait.h"
#include "core/memory/slab.h"
#include "hosted/interleave/ring/ring.h"

static DEFINE_SPINLOCK(toy_lock);
static DEFINE_SPINLOCK(other_lock);
static int counter, data;
static atomic_t toy_count;
static bool ready;
static DEFINE_WAIT_QUEUE(toy_wait);

static void nothing(void)
{
	hosted_init(1);
}

/* ---- counting ----------------------------------------------------------------------------------
 */

static void count_plain(void *unused)
{
	counter++;
}

/* Two tasks count without a lock. */
RING_PROGRAM(toy_counter, nothing, 50)
{
	task_start(count_plain, NULL);
	task_start(count_plain, NULL);
	ring_run();
}

static void count_marked(void *unused)
{
	WRITE_ONCE(counter, READ_ONCE(counter) + 1);
}

/* The same, and no race of plain accesses: one is lost. */
RING_PROGRAM(toy_lost, nothing, 50)
{
	task_start(count_marked, NULL);
	task_start(count_marked, NULL);
	ring_run();
	CHECK_EQUAL(counter, 2);
}

static void count_locked(void *unused)
{
	for (unsigned i = 0; i < 3; i++) {
		spin_lock(&toy_lock);
		counter++;
		spin_unlock(&toy_lock);
		atomic_inc(&toy_count);
	}
}

RING_PROGRAM(toy_right, nothing, 50)
{
	for (unsigned i = 0; i < 3; i++)
		task_start(count_locked, NULL);
	ring_run();
	CHECK_EQUAL(counter, 9);
	CHECK_EQUAL(atomic_read(&toy_count), 9);
}

static void count_late(void *unused)
{
	int old = READ_ONCE(counter);

	spin_lock(&toy_lock);
	WRITE_ONCE(counter, old + 1);
	spin_unlock(&toy_lock);
}

/* The lock is taken, but after the look. */
RING_PROGRAM(toy_late_lock, nothing, 50)
{
	task_start(count_late, NULL);
	task_start(count_late, NULL);
	ring_run();
	CHECK_EQUAL(counter, 2);
}

static void count_other(void *unused)
{
	spin_lock(&other_lock);
	counter++;
	spin_unlock(&other_lock);
}

/* Each takes a lock, not the same one. */
RING_PROGRAM(toy_two_locks, nothing, 50)
{
	task_start(count_locked, NULL);
	task_start(count_other, NULL);
	ring_run();
}

/* ---- publishing --------------------------------------------------------------------------------
 */

static void publish_too_early(void *unused)
{
	data = 1;
	WRITE_ONCE(ready, true); /* no release */
}

static void publish(void *unused)
{
	data = 1;
	smp_store_release(&ready, true);
	wake_up(&toy_wait);
}

static void look(void *unused)
{
	if (smp_load_acquire(&ready))
		CHECK_EQUAL(data, 1);
}

static void await(void *unused)
{
	wait_event(toy_wait, smp_load_acquire(&ready));
	CHECK_EQUAL(data, 1);
}

RING_PROGRAM(toy_no_release, nothing, 50)
{
	ready = false;
	data = 0;
	task_start(publish_too_early, NULL);
	task_start(look, NULL);
	ring_run();
}

RING_PROGRAM(toy_release, nothing, 50)
{
	ready = false;
	data = 0;
	task_start(publish, NULL);
	task_start(look, NULL);
	task_start(await, NULL);
	ring_run();
}

static void await_badly(void *unused)
{
	if (!smp_load_acquire(&ready)) { /* a wake-up from here on is lost */
		struct wait_queue_entry entry = {current, LIST_HEAD_INIT(entry.link), NULL};

		add_wait_queue(&toy_wait, &entry);
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
		remove_wait_queue(&toy_wait, &entry);
	}
}

RING_PROGRAM(toy_lost_wakeup, nothing, 200)
{
	ready = false;
	task_start(publish, NULL);
	task_start(await_badly, NULL);
	ring_run();
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static struct box {
	int value;
} * box;

static void drop_box(void *unused)
{
	struct box *old = READ_ONCE(box);

	WRITE_ONCE(box, NULL);
	kfree(old);
}

static void look_in_box(void *unused)
{
	struct box *here = READ_ONCE(box);

	if (here)
		counter += READ_ONCE(here->value);
}

/* Nothing keeps the box while one looks into it. */
RING_PROGRAM(toy_freed, nothing, 50)
{
	box = kmalloc(sizeof(*box), GFP_KERNEL);
	box->value = 1;
	task_start(drop_box, NULL);
	task_start(look_in_box, NULL);
	ring_run();
}
