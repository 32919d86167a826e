/*
 * bucket_locks.h - the array of spinlocks that bucket.h and rcu.h share: bucket b has that of index
 * b modulo their number: enough of them that CPUs rarely meet, and for bucket.h, whose lookups take
 * them, few enough to stay in the cache.
 *
 * BUCKET_LOCKS and BUCKET_LOCK_SPACING, in locks, are the scheme's.
 */
struct T(locks) {
	spinlock_t of_bucket[BUCKET_LOCKS][BUCKET_LOCK_SPACING]; /* the first is used */
};

static __always_inline void T(lock_bucket)(struct T(locks) * locks, u32 bucket)
{
	spin_lock(locks->of_bucket[bucket % BUCKET_LOCKS]);
}

static __always_inline void T(unlock_bucket)(struct T(locks) * locks, u32 bucket)
{
	spin_unlock(locks->of_bucket[bucket % BUCKET_LOCKS]);
}

static __always_inline void T(lock_bucket_to_read)(struct T(locks) * locks, u32 bucket)
{
	T(lock_bucket)(locks, bucket);
}

static __always_inline void T(unlock_bucket_read)(struct T(locks) * locks, u32 bucket)
{
	T(unlock_bucket)(locks, bucket);
}

static __maybe_unused void T(locks_create)(struct T(locks) * locks)
{
	for (unsigned i = 0; i < BUCKET_LOCKS; i++)
		spin_lock_init(locks->of_bucket[i], TABLE_STRING(TABLE));
}
