/*
 * lockdep.h - the lock-order checker of debug builds, and contention counts for each class of
 * locks.
 *
 * Locks of one purpose form a class, named where they are initialised ("inode->lock"). Whenever a
 * task takes a lock of class B while it holds one of class A, the order A -> B is remembered. An
 * order that closes a cycle could deadlock: the checker prints both orders, where each was taken,
 * and panics, on the first occurrence, whether or not it did deadlock. It also panics when
 *	- a lock is taken that is held, or another of its class (unless by a *_nested call),
 *	- a class is taken in interrupt handlers and elsewhere with interrupts enabled,
 *	- a task sleeps with a spinlock held or in an interrupt (might_sleep()).
 * A lock whose class is NULL (all-zero memory is such a lock) is not checked: use that for a lock
 * that one task takes and another releases (the run queue's, across a switch).
 *
 * trylock cannot deadlock, so it adds no order, but what is taken under it does. Limits: 192 names,
 * 4 nesting levels of each, 24 locks held by a task; when a limit is met checking ends with a
 * warning.
 */
#pragma once

#include "kernel/core/types.h"

#if defined(CONFIG_DEBUG) || defined(CONFIG_LOCK_STATS)
#define LOCK_CLASSES 1 /* each lock knows its class */
#define LOCK_CLASS_FIELD const char *class_name;
#define LOCK_CLASS_INIT(name) .class_name = (name),
#define lock_set_class(lock, name) ((lock)->class_name = (name))
#define lock_class_of(lock) ((lock)->class_name)
#else
#define LOCK_CLASS_FIELD
#define LOCK_CLASS_INIT(name)
#define lock_set_class(lock, name) ((void)(name))
#define lock_class_of(lock) ((const char *)NULL)
#endif

#ifdef LOCK_CLASSES
/* A lock of @class_name had to be waited for: @spins iterations, or 0 when the task slept. Any
 * context. */
void lock_contended(const char *class_name, u64 spins);

struct lock_statistics {
	const char *name;
	u64 contended; /* acquisitions that found the lock taken */
	u64 spins;     /* iterations spent waiting */
};
/* Class @index in order of first use; false past the last. */
bool lock_statistics(unsigned index, struct lock_statistics *out);
#else
static inline void lock_contended(const char *class_name, u64 spins)
{
	(void)class_name;
	(void)spins;
}
#endif

enum lock_kind {
	LOCK_SPIN,  /* holder may not sleep */
	LOCK_SLEEP, /* mutex, rw_semaphore */
};

#define LOCK_TRY (1u << 0)   /* by a trylock */
#define LOCK_IRQS (1u << 1)  /* the taker's interrupts were enabled before */

#ifdef CONFIG_DEBUG

struct task;

#define LOCKS_HELD_MAX 24

struct held_lock {
	const void *lock;
	const void *taken_at; /* return address */
	u16 key;	      /* class and nesting level */
	u8 kind;
};

struct held_locks {
	unsigned count;
	struct held_lock lock[LOCKS_HELD_MAX];
};

/* The checker is off until then: `current` must be valid. */
void lockdep_init(void);

/* Give a new task its list of held locks: it lies at the low end of the kernel stack, which must be
 * set. */
void lockdep_task_init(struct task *task);

/* Called before waiting for @lock, so that a deadlock is reported instead of met. */
void lockdep_acquire(const void *lock, const char *class_name, unsigned level, enum lock_kind kind,
		     unsigned flags);
void lockdep_release(const void *lock, const char *class_name);
bool lockdep_is_held(const void *lock);

/* Around each device or timer interrupt (not faults): the machine's entry code. */
void lockdep_irq_enter(void);
void lockdep_irq_exit(void);

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
#define LOCKDEP_ACQUIRE(lock, level, kind, flags)                                                  \
	lockdep_acquire(lock, (lock)->class_name, level, kind, flags)
#define LOCKDEP_RELEASE(lock) lockdep_release(lock, (lock)->class_name)

#else

struct task;
static inline void lockdep_init(void)
{
}
static inline void lockdep_task_init(struct task *task)
{
	(void)task;
}
#define LOCKDEP_ACQUIRE(lock, level, kind, flags) ((void)(level), (void)(flags))
#define LOCKDEP_RELEASE(lock) ((void)0)
#define lockdep_irq_enter() ((void)0)
#define lockdep_irq_exit() ((void)0)
#define lockdep_assert_held(lock) ((void)(lock))
#define lockdep_assert_none_held() ((void)0)
#define might_sleep() ((void)0)

#endif /* CONFIG_DEBUG */

#include "kernel/core/assert.h"
