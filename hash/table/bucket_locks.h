/*
 * bucket_locks.h - for structures whose locks are the scheme's, one in their table for a bucket or
 * for many: an owner has nothing of its own, and locking asks `table->locks`.
 *
 * Included by such a structure behind its struct TABLE, whose member `locks` is a struct T(locks)
 * (hash/lock; TABLE_LOCK_HEADER).
 */

static __always_inline void T(root_init)(struct T(root) * root)
{
}

static __always_inline void T(lock)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	T(lock_bucket)(&table->locks, bucket);
}

static __always_inline void T(unlock)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	T(unlock_bucket)(&table->locks, bucket);
}

static __always_inline void T(lock_to_read)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	T(lock_bucket_to_read)(&table->locks, bucket);
}

static __always_inline void T(unlock_read)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	T(unlock_bucket_read)(&table->locks, bucket);
}
