/*
 * late.c - interleavings: the litmus tests of x86's order of memory, by which stores.c is tested
 * (test_interleave.py): what it allows is found, what it forbids never comes.
 *
 * Names and outcomes as in Owens, Sarkar and Sewell, "A better x86 memory model: x86-TSO" (2009).
 */
#include "core/kernel.h"
#include "hosted/interleave/ring/ring.h"

static int first, second, seen_first, seen_second;

static void nothing(void)
{
	hosted_init(1);
}

/* Two tasks at once, of which the one stores to @first, the other to @second. */
static void both(void (*one)(void *), void (*other)(void *))
{
	first = second = 0;
	seen_first = seen_second = -1;
	task_start(one, NULL);
	task_start(other, NULL);
	ring_run();
}

/* ---- SB: who stores and then looks at the other's store ---------------------------------------- */

static void store_first(void *unused)
{
	WRITE_ONCE(first, 1);
	seen_second = READ_ONCE(second);
}

static void store_second(void *unused)
{
	WRITE_ONCE(second, 1);
	seen_first = READ_ONCE(first);
}

/* Neither has a fence in between: each misses the other. */
RING_PROGRAM(toy_no_fence, nothing, 50)
{
	both(store_first, store_second);
	CHECK(seen_first || seen_second);
}

static void release_second(void *unused)
{
	smp_store_release(&second, 1);
	seen_first = smp_load_acquire(&first);
}

/* A release and an acquire are no fence. */
RING_PROGRAM(toy_released, nothing, 50)
{
	both(store_first, release_second);
	CHECK(seen_first || seen_second);
}

static void fence_first(void *unused)
{
	WRITE_ONCE(first, 1);
	smp_mb();
	seen_second = READ_ONCE(second);
}

static void exchange_second(void *unused)
{
	xchg(&second, 1);
	seen_first = READ_ONCE(first);
}

/* The one has a fence, the other not. */
RING_PROGRAM(toy_one_fence, nothing, 50)
{
	both(fence_first, store_second);
	CHECK(seen_first || seen_second);
}

RING_PROGRAM(toy_fences, nothing, 50)
{
	both(fence_first, exchange_second);
	CHECK(seen_first || seen_second);
}

/* ---- MP: stores are seen in their order -------------------------------------------------------- */

static void store_in_order(void *unused)
{
	WRITE_ONCE(first, 1);
	WRITE_ONCE(second, 1);
}

static void look_against_order(void *unused)
{
	seen_second = READ_ONCE(second);
	seen_first = READ_ONCE(first);
}

RING_PROGRAM(toy_in_order, nothing, 50)
{
	both(store_in_order, look_against_order);
	CHECK(seen_first >= seen_second);
}

/* ---- n6: one's own store is seen at once, by oneself ------------------------------------------- */

static void look_at_own(void *unused)
{
	WRITE_ONCE(first, 1);
	seen_first = READ_ONCE(first);
	seen_second = READ_ONCE(second);
}

static void store_over(void *unused)
{
	WRITE_ONCE(second, 2);
	WRITE_ONCE(first, 2);
}

RING_PROGRAM(toy_own_store, nothing, 50)
{
	both(look_at_own, store_over);
	CHECK(seen_first > 0);
	CHECK(first > 0 && second == 2);
}
