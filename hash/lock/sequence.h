/*
 * sequence.h - readers take no lock and write nothing; they look whether their bucket has changed
 * meanwhile.
 *
 * Caches: page buffer inode
 * Source: sequence counts as in core/lock/seqcount.h; references to pages that may be another's by
 * now as in Linux 2.6.27 (Nick Piggin's page_cache_get_speculative()). Cost: a lookup reads the
 * count of its bucket's lock before and after, and writes only the count of the object it found;
 * who changes a bucket writes its count twice. A lookup that finds nothing has shown that there is
 * nothing. Weakness: what changes a bucket sends the readers of all that share its lock to the
 * lock.
 *
 * The reader's part is sequence_find.h, which the cache includes. What is found may be on its way
 * out, and in another chain by now: so its memory has to stay readable, what links it a link, and
 * its count of references a count, until the reader has looked again. Descriptors of frames are
 * always there (core/memory/page.h); buffers and inodes are freed after a grace period
 * (core/lock/rcu.h).
 */
#include "core/lock/seqcount.h"

#define BUCKET_LOCKS (16 * NR_CPUS)

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
