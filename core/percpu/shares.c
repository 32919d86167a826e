/* shares.c - see shares.h. */
#include "core/base/percpu.h"

#include "core/kernel.h"
#include "core/lock/rcu.h"

static s64 sum(const struct percpu_shares *shares)
{
	s64 sum = 0;

	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		sum += READ_ONCE(shares->of_cpu[cpu].value);
	return sum;
}

s64 percpu_counter_sum(struct percpu_counter *counter)
{
	guard(spinlock, &counter->lock);
	return counter->limit - counter->left + sum(&counter->shares);
}

void percpu_counter_init(struct percpu_counter *counter, s64 limit)
{
	counter->limit = counter->left = limit > 0 ? min(limit, NO_LIMIT) : NO_LIMIT;
	spin_lock_init(&counter->lock, "percpu_counter");
}

void percpu_counter_fold(struct percpu_counter *counter)
{
	s64 *mine = percpu_share(&counter->shares);

	guard(spinlock, &counter->lock);
	WRITE_ONCE(counter->left, counter->left - *mine);
	WRITE_ONCE(*mine, 0);
}

bool percpu_counter_inc_near(struct percpu_counter *counter)
{
	guard(spinlock, &counter->lock);
	bool room = counter->left > sum(&counter->shares);
	WRITE_ONCE(counter->left, counter->left - room);
	return room;
}

void percpu_ref_gather(struct percpu_ref *ref)
{
	WRITE_ONCE(ref->spread, false);
	synchronize_rcu(); /* who saw it spread has counted */
	atomic_add(sum(&ref->shares) - PERCPU_REF_BIAS, &ref->count);
	memset(&ref->shares, 0, sizeof(ref->shares));
}
