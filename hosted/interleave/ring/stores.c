/*
 * stores.c - interleavings: stores that other CPUs see late.
 *
 * A processor puts what it stores into a buffer of its own, and goes on: its later loads may be
 * done before others see the store. x86 has this order and no weaker one: a CPU's stores are seen
 * in the order in which it made them, itself sees them at once, and a locked instruction or a fence
 * waits until all have been seen (Owens, Sarkar and Sewell, "A better x86 memory model: x86-TSO",
 * 2009). So who says something and then looks at what another CPU says, and has no fence in
 * between, may be missed by one that does the same the other way round.
 *
 * Here all stores of up to eight bytes wait, but those to the task's own stack. A locked
 * instruction, a fence, a copy, a load of what waits, the allocator, sleep and the end of a call
 * let all be seen. So does, by the schedule's choice, another task's turn; or they wait on, for
 * LIFE points of their own task at most, that nobody waits for ever by looking. Two schedules of
 * three have no such stores.
 *
 * A store is made by the kernel itself, after its hook. What it has stored is taken back at the
 * task's next hook: until then nobody else runs. (smp_store_release() is made by its hook.)
 */
#include <string.h>

#include "hosted/interleave/ring/ring.h"

#define LIFE 100

static struct rng rng;
static bool late; /* of this schedule */

void stores_begin(u64 seed)
{
	rng.state = seed ^ 0x2545f4914f6cdd1dull;
	late = seed && !rng_below(&rng, 3);
}

/* ---- what waits -------------------------------------------------------------------------------
 */

static u64 get(const struct late_store *store)
{
	u64 value = 0;

	memcpy(&value, (void *)store->address, store->size);
	return value;
}

static void put(const struct late_store *store)
{
	memcpy((void *)store->address, &store->value, store->size);
}

/* What the kernel has stored last is taken back, to wait like the others. */
static void take_back(struct late_stores *stores)
{
	if (!stores->last_is_seen)
		return;

	struct late_store *last = &stores->list[stores->count - 1];
	u64 before = last->value;

	stores->last_is_seen = false;
	last->value = get(last);
	memcpy((void *)last->address, &before, last->size);
}

/* What it orders, it orders from then on: who loads what stood there before knows nothing of it. */
static void see_first(struct late_stores *stores)
{
	struct late_store first = stores->list[0];

	stores->count--;
	memmove(&stores->list[0], &stores->list[1], stores->count * sizeof(first));
	put(&first);
	if (first.order >= 0)
		races_store(first.address, first.order);
}

void stores_seen(void)
{
	struct late_stores *stores = &running->stores;

	take_back(stores);
	while (stores->count)
		see_first(stores);
}

static bool waits(const struct late_stores *stores, uintptr_t address, size_t size)
{
	for (unsigned i = 0; i < stores->count; i++) {
		const struct late_store *store = &stores->list[i];

		if (address < store->address + store->size && store->address < address + size)
			return true;
	}
	return false;
}

/* ---- hooks ------------------------------------------------------------------------------------
 */

void stores_point(void)
{
	struct late_stores *stores = &running->stores;

	stores->points++;
	take_back(stores);
	while (stores->count && stores->points - stores->list[0].point > LIFE)
		see_first(stores);
}

void stores_turn(void)
{
	if (running->stores.count && rng_below(&rng, 2))
		stores_seen();
}

bool stores_wait_on(unsigned one_in)
{
	take_back(&running->stores);
	return running->stores.count && !rng_below(&rng, one_in);
}

void stores_access(uintptr_t address, size_t size)
{
	if (waits(&running->stores, address, size))
		stores_seen();
}

/* May a store there be late? Then it is the last of the list. */
static struct late_store *add(uintptr_t address, size_t size, int order)
{
	struct late_stores *stores = &running->stores;
	bool own_stack = address - (uintptr_t)running->stack < STACK_BYTES; /* soon another's */

	if (!late || own_stack || size > sizeof(u64) || !races_tracked(address) ||
	    stores->count == ARRAY_SIZE(stores->list)) {
		stores_seen();
		if (order >= 0)
			races_store(address, order);
		return NULL;
	}

	struct late_store *store = &stores->list[stores->count++];

	*store = (struct late_store){address, 0, (unsigned)size, order, stores->points};
	return store;
}

void stores_follows(uintptr_t address, size_t size, enum ring_kind kind)
{
	struct late_store *store =
		add(address, size, kind == RING_MARKED_WRITE ? __ATOMIC_RELAXED : -1);

	if (!store)
		return;
	store->value = get(store);
	running->stores.last_is_seen = true;
}

bool stores_late(uintptr_t address, size_t size, u64 value, int order)
{
	struct late_store *store = add(address, size, order);

	if (!store)
		return false;
	store->value = value;
	if (order == __ATOMIC_SEQ_CST)
		stores_seen();
	return true;
}
