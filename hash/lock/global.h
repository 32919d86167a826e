/*
 * global.h - one spinlock for the whole table: the first step of the ladder.
 *
 * Caches: page buffer inode dentry path
 * Source: Linux 2.4's dcache_lock and inode_lock (and, coarser still, 2.2's kernel lock, under
 * which Lever 1999 measured). Cost: as a bucket's lock. Weakness: one CPU at a time looks anything
 * up, and the lock's cache line goes from CPU to CPU each time.
 */
struct T(locks) {
	spinlock_t of_table;
};

static __always_inline void T(lock_bucket)(struct T(locks) * locks, u32 bucket)
{
	spin_lock(&locks->of_table);
}

static __always_inline void T(unlock_bucket)(struct T(locks) * locks, u32 bucket)
{
	spin_unlock(&locks->of_table);
}

static __always_inline void T(lock_bucket_to_read)(struct T(locks) * locks, u32 bucket)
{
	spin_lock(&locks->of_table);
}

static __always_inline void T(unlock_bucket_read)(struct T(locks) * locks, u32 bucket)
{
	spin_unlock(&locks->of_table);
}

static __maybe_unused void T(locks_create)(struct T(locks) * locks)
{
	spin_lock_init(&locks->of_table, TABLE_STRING(TABLE));
}
