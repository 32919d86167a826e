/*
 * plain.h - the loop that anyone would write, to measure the replay against: part of replay.c.
 */
#pragma once

/*
 * What a plain loop takes for the finds among operations @from to before @to, to compare with: the
 * key's bucket and its chain, walked until the key is found, and nothing else looked at or counted.
 * Of chained tables. Returns the objects visited; adds the CPU time to *@nanoseconds.
 */
u64 replay_plain(const struct operation *operations, u64 from, u64 to, u64 *nanoseconds)
{
	struct chained_link **heads = buckets;
	unsigned bits = cache.bits;
	struct timespec begin;
	u64 visited = 0, second;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	for (u64 i = from; i < to; i++) {
		const struct operation *at = &operations[i];
		u32 bucket = bucket_of(at, &second, bits);

		for (struct chained_link *l = heads[bucket]; l; l = l->next) {
			const struct object *o = container_of(l, struct object, link);

			visited++;
			if (o->second == second && o->first == at->first
#ifdef REPLAY_DENTRY
			    && o->length == at->length && !memcmp(o->name, at->name, at->length)
#endif
			)
				break;
		}
	}
	*nanoseconds += since(&begin);
	return visited;
}
