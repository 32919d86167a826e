/*
 * spinlock.h - locks that are waited for by looking at them again and again.
 *
 * Two kinds, chosen when the kernel is configured (SPINLOCK). A ticket lock serves in the order of
 * arrival: who comes takes a number, and waits until it is served. A test-and-set lock goes to
 * whoever looks first.
 *
 * On a real machine order is fairness. But the CPUs of a virtual machine are threads of a host,
 * perhaps on fewer CPUs: a ticket lock let go then waits for the one thread whose turn it is to be
 * scheduled, while others that run could take it. Four CPUs on two of the host spent nine tenths of
 * their time so; hence the default is test-and-set.
 *
 * A holder must not sleep. A lock that an interrupt handler also takes is taken with the _irqsave
 * (or _irq) forms everywhere else. All-zero memory is a free lock without a class (lockdep.h). Four
 * bytes in a build without debugging. Taking a free lock is one locked instruction and a test,
 * letting go one store.
 */
#pragma once

#include <arch/cpu.h>

#include "kernel/core/atomic.h"
#include "kernel/core/lockdep.h"
#include "kernel/core/types.h"

typedef struct spinlock {
	union {
		u32 state; /* 0: never taken, or let go by test-and-set */
		struct {
			u16 serving; /* tickets: the one whose turn it is ... */
			u16 next;    /* ... and the next to be taken; equal: free */
		};
	};
	LOCK_CLASS_FIELD
} spinlock_t;

/* clang-format off */
#define SPINLOCK_INIT(class) {.state = 0, LOCK_CLASS_INIT(class)}
/* clang-format on */
#define DEFINE_SPINLOCK(name) spinlock_t name = SPINLOCK_INIT(#name)

static inline void spin_lock_init(spinlock_t *lock, const char *class_name)
{
	lock->state = 0;
	lock_set_class(lock, class_name);
}

#ifdef CONFIG_SPINLOCK_TICKET
/* Wait until @ticket is served. Saves every register, so that who has a lock inlined and need not
 * wait pays nothing. */
void ARCH_SAVES_REGISTERS spin_lock_wait(spinlock_t *lock, u16 ticket);

static __always_inline void __spin_lock(spinlock_t *lock)
{
	u32 old = __atomic_fetch_add(&lock->state, 0x10000, __ATOMIC_ACQUIRE);

	if (unlikely((u16)old != (u16)(old >> 16)))
		spin_lock_wait(lock, (u16)(old >> 16));
}

static __always_inline bool __spin_trylock(spinlock_t *lock)
{
	u32 old = READ_ONCE(lock->state);

	return (u16)old == (u16)(old >> 16) &&
	       __atomic_compare_exchange_n(&lock->state, &old, old + 0x10000, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static __always_inline void __spin_unlock(spinlock_t *lock)
{
	/* Only the holder writes this half: a plain add to memory, between two fences for the
	 * compiler. */
	__asm__ __volatile__("" ::: "memory");
	lock->serving++;
	__asm__ __volatile__("" ::: "memory");
}

static inline bool spin_is_locked(spinlock_t *lock)
{
	u32 old = READ_ONCE(lock->state);

	return (u16)old != (u16)(old >> 16);
}
#else
/* Wait and take it. Saves every register, so that who has a lock inlined and need not wait pays
 * nothing. */
void ARCH_SAVES_REGISTERS spin_lock_wait(spinlock_t *lock);

static __always_inline void __spin_lock(spinlock_t *lock)
{
	if (unlikely(__atomic_exchange_n(&lock->state, 1, __ATOMIC_ACQUIRE)))
		spin_lock_wait(lock);
}

static __always_inline bool __spin_trylock(spinlock_t *lock)
{
	return !READ_ONCE(lock->state) && !__atomic_exchange_n(&lock->state, 1, __ATOMIC_ACQUIRE);
}

static __always_inline void __spin_unlock(spinlock_t *lock)
{
	__atomic_store_n(&lock->state, 0, __ATOMIC_RELEASE);
}

static inline bool spin_is_locked(spinlock_t *lock)
{
	return READ_ONCE(lock->state);
}
#endif

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
	if (!__spin_trylock(lock))
		return false;
	LOCKDEP_ACQUIRE(lock, 0, LOCK_SPIN, LOCK_TRY | LOCK_IRQ_STATE());
	return true;
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
