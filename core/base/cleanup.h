/*
 * cleanup.h - what is undone when a scope is left, however that is.
 *
 *	guard(spinlock, &table->lock);		locked until the end of the block
 *	char *text __free(kfree) = kmalloc(...);	freed at the end; NULL is allowed
 *
 * Of several in one block the last is undone first. As linux/cleanup.h.
 */
#pragma once

#include "core/lock/rwsem.h"

#define __free(kind) __attribute__((cleanup(__free_##kind), unused))

/* __free(@kind) for variables of @type, in which @variable points to the one that leaves scope. */
#define DEFINE_FREE(kind, type, statement)                                                         \
	static __always_inline void __free_##kind(type *variable)                                  \
	{                                                                                          \
		statement;                                                                         \
	}

#define __GUARD_NAME2(line) __guard_##line
#define __GUARD_NAME(line) __GUARD_NAME2(line)
#define guard(kind, lock)                                                                          \
	__attribute__((cleanup(__unlock_##kind), unused))                                          \
	__guarded_##kind __GUARD_NAME(__LINE__) = __lock_##kind(lock)

#define DEFINE_GUARD(kind, type, lock, unlock)                                                     \
	typedef type *__guarded_##kind;                                                            \
	static __always_inline type *__lock_##kind(type *object)                                   \
	{                                                                                          \
		lock;                                                                              \
		return object;                                                                     \
	}                                                                                          \
	static __always_inline void __unlock_##kind(type **object)                                 \
	{                                                                                          \
		unlock(*object);                                                                   \
	}

DEFINE_GUARD(spinlock, spinlock_t, spin_lock(object), spin_unlock)
DEFINE_GUARD(spinlock_irq, spinlock_t, spin_lock_irq(object), spin_unlock_irq) /* irqs are on */

/* The same wherever interrupts may be off already: they stay as they were. */
typedef struct spinlock_irqsave {
	spinlock_t *lock;
	unsigned long flags;
} __guarded_spinlock_irqsave;

static __always_inline struct spinlock_irqsave __lock_spinlock_irqsave(spinlock_t *lock)
{
	struct spinlock_irqsave guard = {lock, arch_irq_save()};

	spin_lock(lock);
	return guard;
}

static __always_inline void __unlock_spinlock_irqsave(struct spinlock_irqsave *guard)
{
	spin_unlock_irqrestore(guard->lock, guard->flags);
}

DEFINE_GUARD(mutex, struct mutex, mutex_lock(object), mutex_unlock)
DEFINE_GUARD(read, struct rw_semaphore, down_read(object), up_read)
DEFINE_GUARD(write, struct rw_semaphore, down_write(object), up_write)
