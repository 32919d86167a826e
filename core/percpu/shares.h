/*
 * shares.h - core/base/percpu.h with PERCPU_COUNTS=y: each CPU has a share of a number, on a cache
 * line of its own, so that none waits for a line that another has written.
 *
 * percpu_counter: how many there are of something, up to a limit. The sum is wanted seldom. A CPU's
 * share that has grown beyond PERCPU_BATCH is folded into what all can read, so that this is never
 * further off than half of PERCPU_SLACK: as long as more than that is left, nobody has to look at
 * the other CPUs' shares. (Linux: the same, percpu_counter.)
 *
 * percpu_ref: references to what hardly ever goes. While it is spread, the owner keeps a reference
 * of his own, and nobody asks whether one was the last. Before he lets that go, he gathers the
 * references: from then on they are one atomic count. (Linux: percpu_ref.)
 *
 * All in process context; interrupt handlers use none of them.
 */
#pragma once

#include "core/lock/spinlock.h"

#define PERCPU_BATCH 32
#define PERCPU_SLACK (2 * PERCPU_BATCH * NR_CPUS)

/* Each value is 64 bytes from the next, and from what lies around, so that it needs no alignment
 * for a line of its own. */
struct percpu_shares {
	struct {
		u64 unused[7];
		s64 value; /* of its CPU alone; others read it */
	} of_cpu[NR_CPUS];
	u64 unused[7];
};

static __always_inline s64 *percpu_share(struct percpu_shares *shares)
{
	return &shares->of_cpu[cpu_id()].value;
}

/* ---- counters -------------------------------------------------------------------------------- */

struct percpu_counter {
	s64 limit;	 /* constant; NO_LIMIT: none */
	s64 left;	 /* of it, but for the shares; under lock, read without it */
	spinlock_t lock; /* inside of all others */
	struct percpu_shares shares;
};

/* Of zeroed memory. @limit 0, or what is too large for a number here: none. */
void percpu_counter_init(struct percpu_counter *counter, s64 limit);
s64 percpu_counter_sum(struct percpu_counter *counter);
void percpu_counter_fold(struct percpu_counter *counter); /* this CPU's share */
bool percpu_counter_inc_near(struct percpu_counter *counter);

static __always_inline void percpu_counter_add(struct percpu_counter *counter, s64 value)
{
	s64 *mine = percpu_share(&counter->shares);

	arch_local_add(mine, value);
	if (unlikely((u64)(*mine + PERCPU_BATCH) > 2 * PERCPU_BATCH))
		percpu_counter_fold(counter);
}

/* One more, if there is room: was there? Exact near the limit, but for a CPU that looks at `left`
 * and then does nothing while others count PERCPU_SLACK / 2. */
static __always_inline bool percpu_counter_inc(struct percpu_counter *counter)
{
	if (unlikely(READ_ONCE(counter->left) < PERCPU_SLACK))
		return percpu_counter_inc_near(counter);
	percpu_counter_add(counter, 1);
	return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Numbers from 1 on, each once; a CPU takes PERCPU_NUMBERS at a time. */
#define PERCPU_NUMBERS 1024
struct percpu_numbers {
	struct percpu_shares last;
	atomic64_t taken; /* by CPUs */
};

static __always_inline s64 percpu_number(struct percpu_numbers *numbers)
{
	s64 *mine = percpu_share(&numbers->last);

	if (unlikely(*mine % PERCPU_NUMBERS == 0))
		*mine = __atomic_fetch_add(&numbers->taken.counter, PERCPU_NUMBERS,
					   __ATOMIC_RELAXED);
	return ++*mine;
}

/* ---- references ------------------------------------------------------------------------------ */

#define PERCPU_REF_BIAS (1LL << 32)

struct percpu_ref {
	bool spread;	  /* in the shares; else in count */
	atomic64_t count; /* and PERCPU_REF_BIAS while it is spread, or being gathered */
	struct percpu_shares shares;
};

/* Spread what has been one count since it was made, or gathered. Where the last one to go is to be
 * told, the caller has a reference, which he keeps until he has gathered them. */
static inline void percpu_ref_spread(struct percpu_ref *ref)
{
	atomic_add(PERCPU_REF_BIAS, &ref->count);
	smp_store_release(&ref->spread, true);
}

/* From now on percpu_ref_count() is right, and who lets the last go is told. One at a time, while
 * it is spread. Sleeps. */
void percpu_ref_gather(struct percpu_ref *ref);
#define percpu_ref_count(ref) atomic_read(&(ref)->count)

/* The next two do not sleep between their look at `spread` and the change: so percpu_ref_gather()
 * waits for them, as for readers of RCU. */

/* By who has found it in a reader's section of RCU: false if there is none left any more. */
static __always_inline bool percpu_ref_tryget(struct percpu_ref *ref)
{
	if (unlikely(!READ_ONCE(ref->spread)))
		return atomic_add_unless(&ref->count, 1, 0);
	arch_local_add(percpu_share(&ref->shares), 1);
	return true;
}

/* By who has a reference. */
static __always_inline void percpu_ref_get(struct percpu_ref *ref)
{
	if (unlikely(!READ_ONCE(ref->spread)))
		atomic_inc(&ref->count);
	else
		arch_local_add(percpu_share(&ref->shares), 1);
}

/* Was it the last? */
static __always_inline bool percpu_ref_put(struct percpu_ref *ref)
{
	if (unlikely(!READ_ONCE(ref->spread)))
		return atomic_dec_and_test(&ref->count);
	arch_local_add(percpu_share(&ref->shares), -1);
	return false;
}
