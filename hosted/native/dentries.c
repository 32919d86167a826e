/*
 * dentries.c - native: single looks into the dentry cache. Where DENTRY_LOCK is rcu, it is asked as
 * a walk without locks asks it: no reference is taken, but the sequence count is looked at.
 */
#include "core/kernel.h"
#include "fs/path/dcache.h"
#include "hosted/native/lookups.h"

static struct dentry *targets[NR_CPUS + 1]; /* [0]: of all threads */

void dentry_target(unsigned target, struct dentry *dentry)
{
	targets[target] = dentry;
}

#ifdef LOCKLESS_WALK
static bool find_dentry(const struct dentry *target, const struct component *name)
{
	struct hash_counters __maybe_unused uncounted;
	struct hash_counters *counts = HASH_CPU_COUNTERS(dentry, &uncounted);
	const struct dentry_key key = {target->parent, name, counts, NULL};
	bool found = false;
	u64 steps = 0;

	rcu_read_lock();
	const struct dentry *dentry = dentry_table_find(&dentry_table_instance, NULL,
							dentry_bucket(target->parent, name->hash),
							&key, dentry_compare, &steps);
	if (dentry) {
		u32 sequence = read_seqcount_begin(&dentry->sequence);

		found = !read_seqcount_retry(&dentry->sequence, sequence);
		hash_count_find(counts, dentry, steps);
	}
	rcu_read_unlock();
	return found;
}
#else
static bool find_dentry(const struct dentry *target, const struct component *name)
{
	struct dentry *dentry = d_lookup(target->parent, name, HASH_FIND);

	if (!dentry)
		return false;
	dput(dentry);
	return true;
}
#endif

void dentry_turns(struct worker *worker, unsigned turns)
{
	const struct dentry *target = targets[worker->place == PLACE_SAME ? 0 : worker->cpu + 1];

	while (turns--) {
		struct component name = take_component(target->parent, target->name);

		if (unlikely(!find_dentry(target, &name)))
			measure_fail("d_lookup", target->name, 0);
	}
}

double dentry_steps(void)
{
#ifdef CONFIG_HASH_STATS
	static u64 hits_before, steps_before;
	u64 hits = 0, steps = 0;
	double mean;

	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) {
		hits += dentry_counters[cpu].hits;
		steps += dentry_counters[cpu].hit_steps;
	}
	mean = hits > hits_before ? (double)(steps - steps_before) / (double)(hits - hits_before)
				  : 0;
	hits_before = hits;
	steps_before = steps;
	return mean;
#else
	return 0;
#endif
}
