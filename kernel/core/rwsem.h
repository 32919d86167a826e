/*
 * rwsem.h - a sleeping lock with one writer or many readers.
 *
 * state: bit 0 a writer holds it, bit 1 somebody waits, the rest counts readers. Once somebody
 * waits, newcomers queue behind, and whoever releases hands the lock over in queue order (all
 * readers at the front together): neither side can starve the other. A reader must not take it
 * again: a writer may have queued in between.
 */
#pragma once

#include "kernel/core/sched.h"
#include "kernel/core/list.h"
#include "kernel/core/spinlock.h"

struct rw_semaphore {
	u32 state;
	spinlock_t wait_lock;
	LOCK_CLASS_FIELD
	struct list_head waiters;
};

#define RWSEM_WRITER 1u
#define RWSEM_WAITERS 2u
#define RWSEM_READER 4u

/* clang-format off */
#define DEFINE_RWSEM(name) \
	struct rw_semaphore name = {.wait_lock = SPINLOCK_INIT("rwsem.wait_lock"), \
		LOCK_CLASS_INIT(#name) .waiters = LIST_HEAD_INIT((name).waiters)}
/* clang-format on */

static inline void init_rwsem(struct rw_semaphore *sem, const char *class_name)
{
	sem->state = 0;
	spin_lock_init(&sem->wait_lock, "rwsem.wait_lock");
	lock_set_class(sem, class_name);
	INIT_LIST_HEAD(&sem->waiters);
}

void rwsem_read_wait(struct rw_semaphore *sem);
void rwsem_write_wait(struct rw_semaphore *sem);
void rwsem_hand_over(struct rw_semaphore *sem);

static __always_inline void down_read_nested(struct rw_semaphore *sem, unsigned level)
{
	might_sleep();
	LOCKDEP_ACQUIRE(sem, level, LOCK_SLEEP, 0);
	if (unlikely(__atomic_fetch_add(&sem->state, RWSEM_READER, __ATOMIC_SEQ_CST) &
		     (RWSEM_WRITER | RWSEM_WAITERS)))
		rwsem_read_wait(sem);
}

static __always_inline void down_read(struct rw_semaphore *sem)
{
	down_read_nested(sem, 0);
}

static __always_inline bool down_read_trylock(struct rw_semaphore *sem)
{
	u32 old = READ_ONCE(sem->state);

	do {
		if (old & (RWSEM_WRITER | RWSEM_WAITERS))
			return false;
	} while (!try_cmpxchg(&sem->state, &old, old + RWSEM_READER));
	LOCKDEP_ACQUIRE(sem, 0, LOCK_SLEEP, LOCK_TRY);
	return true;
}

static __always_inline void up_read(struct rw_semaphore *sem)
{
	LOCKDEP_RELEASE(sem);
	if (unlikely(__atomic_fetch_sub(&sem->state, RWSEM_READER, __ATOMIC_SEQ_CST) &
		     RWSEM_WAITERS))
		rwsem_hand_over(sem);
}

/* @level as in spin_lock_nested(). */
static __always_inline void down_write_nested(struct rw_semaphore *sem, unsigned level)
{
	u32 free = 0;

	might_sleep();
	LOCKDEP_ACQUIRE(sem, level, LOCK_SLEEP, 0);
	if (unlikely(!try_cmpxchg(&sem->state, &free, RWSEM_WRITER)))
		rwsem_write_wait(sem);
}

static __always_inline void down_write(struct rw_semaphore *sem)
{
	down_write_nested(sem, 0);
}

static __always_inline bool down_write_trylock(struct rw_semaphore *sem)
{
	u32 free = 0;

	if (!try_cmpxchg(&sem->state, &free, RWSEM_WRITER))
		return false;
	LOCKDEP_ACQUIRE(sem, 0, LOCK_SLEEP, LOCK_TRY);
	return true;
}

static __always_inline void up_write(struct rw_semaphore *sem)
{
	LOCKDEP_RELEASE(sem);
	if (unlikely(__atomic_fetch_sub(&sem->state, RWSEM_WRITER, __ATOMIC_SEQ_CST) &
		     RWSEM_WAITERS))
		rwsem_hand_over(sem);
}

/* Held for writing by somebody? (for assertions) */
static inline bool rwsem_is_write_locked(struct rw_semaphore *sem)
{
	return READ_ONCE(sem->state) & RWSEM_WRITER;
}
