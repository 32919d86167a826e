/*
 * rwlock.h - a lock for the whole table that many readers hold at a time, or one writer.
 *
 * Caches: page buffer inode dentry path
 * Source: Linux 2.3's page cache and FreeBSD's name cache. Cost: two locked instructions a lookup,
 * one to count the reader in and one to count him out. Weakness: readers run side by side, but each
 * writes the lock, whose cache line goes from CPU to CPU as with a spinlock: little is gained where
 * a lookup is short.
 *
 * state: the number of readers, and bit 31 while a writer has the lock or waits for it: then no
 * further reader comes in.
 */
#define RWLOCK_WRITER (1u << 31)

struct T(locks) {
	u32 state;
	spinlock_t writers; /* one at a time; its class names the lock */
};

/* Wait until no writer has the lock, with a reader counted in; or until no reader has it. Saves
 * every register, as spin_lock_wait(). */
static void ARCH_SAVES_REGISTERS T(wait_for_writer)(struct T(locks) * locks)
{
	u64 spins = 0;

	do {
		__atomic_fetch_sub(&locks->state, 1, __ATOMIC_RELEASE);
		for (; (smp_load_acquire(&locks->state) & RWLOCK_WRITER) && !READ_ONCE(panicking);
		     spins++)
			cpu_relax();
	} while ((__atomic_fetch_add(&locks->state, 1, __ATOMIC_ACQUIRE) & RWLOCK_WRITER) &&
		 !panicking);
	lock_contended(locks->writers.class, spins);
}

static void ARCH_SAVES_REGISTERS T(wait_for_readers)(struct T(locks) * locks)
{
	u64 spins = 0;

	for (; smp_load_acquire(&locks->state) != RWLOCK_WRITER && !READ_ONCE(panicking); spins++)
		cpu_relax();
	lock_contended(locks->writers.class, spins);
}

static __always_inline void T(lock_bucket)(struct T(locks) * locks, u32 bucket)
{
	spin_lock(&locks->writers);
	turn_lock_try(&locks->state, &locks->writers.class);
	if (unlikely(__atomic_fetch_add(&locks->state, RWLOCK_WRITER, __ATOMIC_ACQUIRE) != 0))
		T(wait_for_readers)(locks);
	turn_event(TURN_TAKEN);
}

static __always_inline void T(unlock_bucket)(struct T(locks) * locks, u32 bucket)
{
	turn_lock_give(&locks->state, &locks->writers.class, TURN_GIVE);
	__atomic_fetch_sub(&locks->state, RWLOCK_WRITER, __ATOMIC_RELEASE);
	spin_unlock(&locks->writers);
}

static __always_inline void T(lock_bucket_to_read)(struct T(locks) * locks, u32 bucket)
{
	lockdep_acquire(&locks->writers, locks->writers.class, 0, LOCK_SPINS);
	turn_lock_try(&locks->state, &locks->writers.class);
	if (unlikely(__atomic_fetch_add(&locks->state, 1, __ATOMIC_ACQUIRE) & RWLOCK_WRITER))
		T(wait_for_writer)(locks);
	turn_event(TURN_TAKEN_READING);
}

static __always_inline void T(unlock_bucket_read)(struct T(locks) * locks, u32 bucket)
{
	lockdep_release(&locks->writers, locks->writers.class);
	turn_lock_give(&locks->state, &locks->writers.class, TURN_GIVE_READING);
	__atomic_fetch_sub(&locks->state, 1, __ATOMIC_RELEASE);
}

static __maybe_unused void T(locks_create)(struct T(locks) * locks)
{
	locks->state = 0;
	spin_lock_init(&locks->writers, TABLE_STRING(TABLE));
}
