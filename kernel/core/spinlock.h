/*
 * spinlock.h - test-and-set locks: of those that wait, whoever looks first gets it.
 *
 * Not in the order they came, on purpose. The CPUs of a virtual machine are threads of a host that may have
 * fewer CPUs. A ticket lock let go then waits for the one thread whose turn it is to be scheduled, while
 * others that run could take it: four CPUs on two of the host spent nine tenths of their time so.
 *
 * A holder must not sleep. A lock that an interrupt handler also takes is taken with the _irqsave (or
 * _irq) forms everywhere else. All-zero memory is a free lock without a class (lockdep.h). Four bytes in a
 * build without debugging. Taking a free lock is one exchange and a test, letting go one store.
 */
#ifndef CORE_SPINLOCK_H
#define CORE_SPINLOCK_H

#include <arch/cpu.h>

#include "kernel/core/atomic.h"
#include "kernel/core/lockdep.h"
#include "kernel/core/types.h"

typedef struct spinlock {
	u32 held;
	LOCK_CLASS_FIELD
} spinlock_t;

/* clang-format off */
#define SPINLOCK_INIT(class) {.held = 0, LOCK_CLASS_INIT(class)}
/* clang-format on */
#define DEFINE_SPINLOCK(name) spinlock_t name = SPINLOCK_INIT(#name)

static inline void spin_lock_init(spinlock_t *lock, const char *class_name)
{
	lock->held = 0;
	lock_set_class(lock, class_name);
}

/* Wait and take it. Saves every register, so that who has a lock inlined and need not wait pays nothing. */
void ARCH_SAVES_REGISTERS spin_lock_wait(spinlock_t *lock);

static __always_inline void __spin_lock(spinlock_t *lock)
{
	if (unlikely(__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE)))
		spin_lock_wait(lock);
}

static __always_inline void __spin_unlock(spinlock_t *lock)
{
	__atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

#ifdef CONFIG_DEBUG
#define LOCK_IRQ_STATE() (arch_irqs_disabled() ? 0 : LOCK_IRQS)
#else
#define LOCK_IRQ_STATE() 0
#endif

/* @level 1..3: the lock nests inside another of its class, in an order the caller guarantees. */
static __always_inline void spin_lock_nested(spinlock_t *lock, unsigned level)
{
	LOCKDEP_ACQUIRE(lock, level, LOCK_SPIN, LOCK_IRQ_STATE());
	__spin_lock(lock);
}

static __always_inline void spin_lock(spinlock_t *lock)
{
	spin_lock_nested(lock, 0);
}

static __always_inline void spin_unlock(spinlock_t *lock)
{
	LOCKDEP_RELEASE(lock);
	__spin_unlock(lock);
}

/* true if the lock was free and is ours now. */
static __always_inline bool spin_trylock(spinlock_t *lock)
{
	if (READ_ONCE(lock->held) || __atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE))
		return false;
	LOCKDEP_ACQUIRE(lock, 0, LOCK_SPIN, LOCK_TRY | LOCK_IRQ_STATE());
	return true;
}

static inline bool spin_is_locked(spinlock_t *lock)
{
	return READ_ONCE(lock->held);
}

#define spin_lock_irqsave(lock, flags)                                                             \
	do {                                                                                       \
		(flags) = arch_irq_save();                                                         \
		spin_lock(lock);                                                                   \
	} while (0)

static __always_inline void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
	spin_unlock(lock);
	arch_irq_restore(flags);
}

/* Where interrupts are known to be enabled. */
static __always_inline void spin_lock_irq(spinlock_t *lock)
{
	arch_irq_disable();
	spin_lock(lock);
}

static __always_inline void spin_unlock_irq(spinlock_t *lock)
{
	spin_unlock(lock);
	arch_irq_enable();
}

#endif /* CORE_SPINLOCK_H */
