/*
 * percpu.h - numbers that all CPUs change again and again, with the names of Linux's percpu_counter
 * and percpu_ref. Here each is one atomic number, whose line goes from CPU to CPU; with
 * PERCPU_COUNTS=y it is shared out to them (core/percpu/shares.h).
 *
 * percpu_counter: how many there are of something, up to a limit.
 *
 * percpu_ref: references to what hardly ever goes. Its owner says when it begins to be used
 * (percpu_ref_spread()), keeps a reference of his own meanwhile, and gathers the references before
 * he lets that go. From then on percpu_ref_count() is right, and who lets the last one go is told.
 *
 * All in process context; interrupt handlers use none of them. Only percpu_ref_gather() may sleep.
 */
#pragma once

/* Of a counter. More can be left of it while some CPUs let go what others have counted. */
#define NO_LIMIT ((s64)(~0ULL >> 2))

#ifdef CONFIG_PERCPU_COUNTS
#include "core/percpu/shares.h"
#else

#include "core/base/atomic.h"

struct percpu_counter {
	s64 limit;
	atomic64_t count;
};

/* Of zeroed memory. @limit 0, or what is too large for a number here: none. */
static inline void percpu_counter_init(struct percpu_counter *counter, s64 limit)
{
	counter->limit = limit > 0 ? min(limit, NO_LIMIT) : NO_LIMIT;
}

static inline s64 percpu_counter_sum(struct percpu_counter *counter)
{
	return atomic_read(&counter->count);
}

static inline void percpu_counter_add(struct percpu_counter *counter, s64 value)
{
	atomic_add(value, &counter->count);
}

/* One more, if there is room: was there? */
static inline bool percpu_counter_inc(struct percpu_counter *counter)
{
	bool room = atomic_inc_return(&counter->count) <= counter->limit;

	if (unlikely(!room))
		percpu_counter_add(counter, -1);
	return room;
}

/* Numbers from 1 on, each once. */
struct percpu_numbers {
	atomic64_t last;
};
#define percpu_number(numbers) atomic_inc_return(&(numbers)->last)

struct percpu_ref {
	atomic_t count;
};
#define percpu_ref_spread(ref) ((void)0)
#define percpu_ref_gather(ref) ((void)0)
#define percpu_ref_count(ref) atomic_read(&(ref)->count)
/* By who has a reference. */
#define percpu_ref_get(ref) atomic_inc(&(ref)->count)
/* By who has found it in a reader's section of RCU: false if there is none left any more. */
#define percpu_ref_tryget(ref) atomic_inc_not_zero(&(ref)->count)
/* Was it the last? */
static inline bool percpu_ref_put(struct percpu_ref *ref)
{
	return atomic_dec_and_test(&ref->count);
}
#endif
