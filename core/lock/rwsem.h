/*
 * rwsem.h - a sleeping lock with one writer or many readers, and the mutex, which has writers only.
 *
 * state: bit 0 a writer holds it, bit 1 somebody waits, the rest counts readers. Once somebody
 * waits, newcomers queue behind, and whoever releases hands the lock over in queue order (all
 * readers at the front together): neither side can starve the other, and nobody spins. A reader
 * must not take it again: a writer may have queued in between. Who took a lock releases it. Free,
 * it is one atomic instruction each way.
 */
#pragma once

#include "core/sched/sched.h"
#include "core/lock/spinlock.h"

struct rw_semaphore {
	u32 state;
	spinlock_t wait_lock; /* of the semaphore's class; innermost, and not checked itself */
	struct list_head waiters;
};

#define RWSEM_WRITER 1u
#define RWSEM_WAITERS 2u
#define RWSEM_READER 4u

/* @class_name is a literal. */
#define init_rwsem(sem, class_name)                                                                \
	({                                                                                         \
		(sem)->state = 0;                                                                  \
		spin_lock_init(&(sem)->wait_lock, class_name);                                     \
		INIT_LIST_HEAD(&(sem)->waiters);                                                   \
	})

/* Wait for the lock as RWSEM_WRITER, or as RWSEM_READER, who has counted himself already. */
void rwsem_wait(struct rw_semaphore *sem, u32 as);
void rwsem_hand_over(struct rw_semaphore *sem);

static __always_inline void down_read(struct rw_semaphore *sem)
{
	might_sleep();
	lockdep_acquire(sem, sem->wait_lock.class, 0, LOCK_SLEEPS);
	turn_lock_try(&sem->state, &sem->wait_lock.class);
	if (unlikely(__atomic_fetch_add(&sem->state, RWSEM_READER, __ATOMIC_SEQ_CST) &
		     (RWSEM_WRITER | RWSEM_WAITERS)))
		rwsem_wait(sem, RWSEM_READER);
	turn_event(TURN_TAKEN_READING);
}

#ifdef CONFIG_SWAP
/* Take it for reading if no writer holds it, past those who wait: true; else false at once. For who
 * others, that hold it, may be waiting for. */
static __always_inline bool try_join_readers(struct rw_semaphore *sem)
{
	u32 state = READ_ONCE(sem->state);

	do
		if (state & RWSEM_WRITER)
			return false;
	while (!try_cmpxchg(&sem->state, &state, state + RWSEM_READER));
	lockdep_acquire(sem, sem->wait_lock.class, 0, LOCK_SLEEPS);
	return true;
}
#endif

/* @level as in spin_lock_nested(). */
static __always_inline void down_write_nested(struct rw_semaphore *sem, unsigned level)
{
	u32 free = 0;

	might_sleep();
	lockdep_acquire(sem, sem->wait_lock.class, level, LOCK_SLEEPS);
	turn_lock_try(&sem->state, &sem->wait_lock.class);
	if (unlikely(!try_cmpxchg(&sem->state, &free, RWSEM_WRITER)))
		rwsem_wait(sem, RWSEM_WRITER);
	turn_event(TURN_TAKEN);
}

#define down_write(sem) down_write_nested(sem, 0)

static __always_inline void __up(struct rw_semaphore *sem, u32 what)
{
	lockdep_release(sem, sem->wait_lock.class);
	turn_lock_give(&sem->state, &sem->wait_lock.class,
		       what == RWSEM_WRITER ? TURN_GIVE : TURN_GIVE_READING);
	if (unlikely(__atomic_fetch_sub(&sem->state, what, __ATOMIC_SEQ_CST) & RWSEM_WAITERS))
		rwsem_hand_over(sem);
}

#define up_read(sem) __up(sem, RWSEM_READER)
#define up_write(sem) __up(sem, RWSEM_WRITER)

/* ---- mutex: a rw_semaphore that nobody takes for reading ------------------------------------- */

struct mutex {
	struct rw_semaphore sem;
};

#define DEFINE_MUTEX(name)                                                                         \
	struct mutex name = {.sem.waiters = LIST_HEAD_INIT((name).sem.waiters)};                   \
	NAME_LOCK(name, (name).sem.wait_lock, #name)
#define mutex_init(mutex, class_name) init_rwsem(&(mutex)->sem, class_name)
#define mutex_lock(mutex) down_write(&(mutex)->sem)
#define mutex_unlock(mutex) up_write(&(mutex)->sem)
/* The caller takes it sometimes, where nobody meets it in a test: the order counts as seen. */
static __always_inline void might_lock(struct mutex *mutex)
{
	might_sleep();
	lockdep_acquire(mutex, mutex->sem.wait_lock.class, 0, LOCK_SLEEPS);
	lockdep_release(mutex, mutex->sem.wait_lock.class);
}
