/*
 * mutex.h - a lock whose waiters sleep. Only the task that took it may release it; not in
 * interrupts.
 *
 * state: 0 free, 1 held, 2 held and somebody may be waiting. Uncontended: one atomic instruction
 * each way. A woken waiter competes with newcomers, so a busy mutex is not strictly first come,
 * first served.
 */
#pragma once

#include "kernel/core/wait.h"

struct mutex {
	u32 state;
	LOCK_CLASS_FIELD
	wait_queue_head_t wait;
};

/* clang-format off */
#define MUTEX_INIT(name, class) \
	{.state = 0, LOCK_CLASS_INIT(class) .wait = WAIT_QUEUE_INIT((name).wait, "mutex.wait")}
/* clang-format on */
#define DEFINE_MUTEX(name) struct mutex name = MUTEX_INIT(name, #name)

static inline void mutex_init(struct mutex *mutex, const char *class_name)
{
	mutex->state = 0;
	lock_set_class(mutex, class_name);
	init_waitqueue_head(&mutex->wait);
}

int mutex_lock_wait(struct mutex *mutex, enum task_state state);

static __always_inline bool __mutex_try(struct mutex *mutex)
{
	u32 free = 0;

	return __atomic_compare_exchange_n(&mutex->state, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* @level as in spin_lock_nested(). */
static __always_inline void mutex_lock_nested(struct mutex *mutex, unsigned level)
{
	might_sleep();
	LOCKDEP_ACQUIRE(mutex, level, LOCK_SLEEP, 0);
	if (unlikely(!__mutex_try(mutex)))
		mutex_lock_wait(mutex, TASK_UNINTERRUPTIBLE);
}

static __always_inline void mutex_lock(struct mutex *mutex)
{
	mutex_lock_nested(mutex, 0);
}

/* 0, or -EINTR when a signal came first. */
static inline int mutex_lock_interruptible(struct mutex *mutex)
{
	int error = 0;

	might_sleep();
	LOCKDEP_ACQUIRE(mutex, 0, LOCK_SLEEP, 0);
	if (unlikely(!__mutex_try(mutex)))
		error = mutex_lock_wait(mutex, TASK_INTERRUPTIBLE);
	if (error)
		LOCKDEP_RELEASE(mutex);
	return error;
}

static __always_inline bool mutex_trylock(struct mutex *mutex)
{
	if (!__mutex_try(mutex))
		return false;
	LOCKDEP_ACQUIRE(mutex, 0, LOCK_SLEEP, LOCK_TRY);
	return true;
}

static __always_inline void mutex_unlock(struct mutex *mutex)
{
	LOCKDEP_RELEASE(mutex);
	if (unlikely(__atomic_exchange_n(&mutex->state, 0, __ATOMIC_SEQ_CST) == 2))
		__wake_up(&mutex->wait, false);
}

static inline bool mutex_is_locked(struct mutex *mutex)
{
	return READ_ONCE(mutex->state) != 0;
}
