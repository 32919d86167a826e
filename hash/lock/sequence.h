/*
 * sequence.h - readers take no lock and write nothing; they look whether their bucket has changed
 * meanwhile.
 *
 * Caches: page
 * Source: sequence counts as in core/lock/seqcount.h; references to pages that may be another's by
 * now as in Linux 2.6.27 (Nick Piggin's page_cache_get_speculative()). Cost: a lookup reads the
 * count of its bucket's lock before and after, and writes only the count of the page it found; who
 * changes a bucket writes its count twice. A lookup that finds nothing has shown that there is
 * nothing. Weakness: what changes a bucket sends the readers of all that share its lock to the
 * lock.
 *
 * What is found may be freed at any time, and be another object by now: so its memory has to stay
 * readable, and what links it stay a link, as in descriptors of frames (core/memory/page.h).
 */
#include "core/lock/seqcount.h"

#ifndef BUCKET_LOCKS
#define BUCKET_LOCKS (16 * NR_CPUS) /* as in bucket_locks.h */
#endif

struct T(locks) {
	struct {
		spinlock_t lock;
		seqcount_t changes;
	} of_bucket[BUCKET_LOCKS];
};

/* What changes whenever the bucket does. */
static __always_inline const seqcount_t *T(changes)(const struct T(locks) * locks, u32 bucket)
{
	return &locks->of_bucket[bucket % BUCKET_LOCKS].changes;
}

static __always_inline void T(lock_bucket_to_read)(struct T(locks) * locks, u32 bucket)
{
	spin_lock(&locks->of_bucket[bucket % BUCKET_LOCKS].lock);
}

static __always_inline void T(unlock_bucket_read)(struct T(locks) * locks, u32 bucket)
{
	spin_unlock(&locks->of_bucket[bucket % BUCKET_LOCKS].lock);
}

static __always_inline void T(lock_bucket)(struct T(locks) * locks, u32 bucket)
{
	T(lock_bucket_to_read)(locks, bucket);
	write_seqcount_begin(&locks->of_bucket[bucket % BUCKET_LOCKS].changes);
	smp_mb(); /* before a look at the count of references */
}

static __always_inline void T(unlock_bucket)(struct T(locks) * locks, u32 bucket)
{
	write_seqcount_end(&locks->of_bucket[bucket % BUCKET_LOCKS].changes);
	T(unlock_bucket_read)(locks, bucket);
}

static __maybe_unused void T(locks_create)(struct T(locks) * locks)
{
	for (unsigned i = 0; i < BUCKET_LOCKS; i++)
		spin_lock_init(&locks->of_bucket[i].lock, TABLE_STRING(TABLE));
}
