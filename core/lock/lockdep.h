/*
 * lockdep.h - the lock-order checker of debug builds.
 *
 * Locks of one purpose form a class, named where they are initialised ("inode->lock"). Whenever a
 * task takes a lock of class B while it holds one of class A, the order A -> B is remembered. An
 * order that closes a cycle could deadlock: the checker prints both orders, where each was taken,
 * and panics, on the first occurrence, whether or not it did deadlock. It also panics when
 *	- a lock is taken that is held, or another of its class (unless by a *_nested call),
 *	- a class is taken in interrupt handlers and elsewhere with interrupts enabled,
 *	- a task sleeps with a spinlock held or in an interrupt (might_sleep()).
 * A lock of class 0 (all-zero memory is such a lock) is not checked: use that for a lock that one
 * task takes and another releases (the run queue's, across a switch).
 *
 * Limits: 192 names, 5 nesting levels of each, 24 locks held by a task, 4096 orders.
 */
#pragma once

#include "core/log/assert.h"

struct task;

bool lockdep_is_held(const void *lock); /* debug builds, or in what ASSERT() does not evaluate */

#ifdef CONFIG_DEBUG

/* Give a new task its list of held locks: it lies at the low end of the kernel stack, which must be
 * set. */
void lockdep_task_init(struct task *task);

/* Called before waiting for @lock, so that a deadlock is reported instead of met. @level 0..3. The
 * holder of a lock that is waited for by spinning may not sleep. */
enum lock_wait { LOCK_SPINS, LOCK_SLEEPS };
void lockdep_acquire(const void *lock, u16 class, unsigned level, enum lock_wait wait);
void lockdep_release(const void *lock, u16 class);

/* Around each device or timer interrupt (not faults): the machine's entry code. */
void lockdep_irq(int step); /* 1 where it begins, -1 where it ends */

/* Panics if the caller may not sleep here. @file and @line name the place. */
void lockdep_might_sleep(const char *file, int line);

/* The task returns to user mode or ends: no lock may be held. */
void lockdep_assert_none_held(void);

#define lockdep_assert_held(lock)                                                                  \
	do {                                                                                       \
		if (unlikely(!lockdep_is_held(lock)))                                              \
			assert_failed("held: " #lock, __FILE__, __LINE__, __func__);               \
	} while (0)
#define might_sleep() lockdep_might_sleep(__FILE__, __LINE__)

#else

#define lockdep_task_init(task) ((void)(task))
#define lockdep_acquire(lock, class, level, wait) ((void)(level))
#define lockdep_release(lock, class) ((void)0)
#define lockdep_irq(step) ((void)0)
#define lockdep_assert_held(lock) ((void)(lock))
#define lockdep_assert_none_held() ((void)0)
#define might_sleep() ((void)0)

#endif /* CONFIG_DEBUG */
