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
 * (or _irq) forms everywhere else. Taking a free lock is one locked instruction and a test, letting
 * go one store. Four bytes: two of them number the lock's class, its name for the order checker
 * (lockdep.h) and for the count of contended acquisitions, which costs only who has to wait.
 * All-zero memory is a free lock of class 0: counted as unnamed, not checked.
 */
#pragma once

#include <arch/cpu.h>

#include "core/base/atomic.h"
#include "core/lock/lockdep.h"
#ifdef CONFIG_SHORT_TURNS
#include "core/lock/turns.h"
#else
#define turn_event(event) ((void)0)
#define turn_lock_try(lock, class_word) ((void)0)
#define turn_lock_give(lock, class_word, event) ((void)0)
#endif

typedef struct spinlock {
	union {
		u16 state; /* 0: never taken, or let go by test-and-set */
		struct {
			u8 serving; /* tickets: the one whose turn it is ... */
			u8 next;    /* ... and the next to be taken; equal: free */
		};
	};
	u16 class;
} spinlock_t;

/* @class_name is a literal: its number is looked up once for each place in the source. */
#define spin_lock_init(lock, class_name)                                                           \
	({                                                                                         \
		static u16 _known; /* to all who come here at once, the same */                    \
		u16 _class = READ_ONCE(_known);                                                    \
		if (unlikely(!_class))                                                             \
			WRITE_ONCE(_known, _class = lock_class(class_name));                       \
		*(lock) = (spinlock_t){.class = _class};                                           \
	})

/* After the definition of a static lock: names it, from core_early_init() on. */
#define NAME_LOCK(identifier, lock, class_name)                                                    \
	static const struct lock_name identifier##_lock_name LOCK_NAMES = {&(lock), class_name, 0}
/* The same for @member of a static array, in which each CPU has an element. */
#define NAME_CPU_LOCKS(array, member, class_name)                                                  \
	static const struct lock_name array##_lock_names LOCK_NAMES = {                            \
		&(array)[0].member, class_name, sizeof((array)[0])}
#define DEFINE_SPINLOCK(name)                                                                      \
	spinlock_t name;                                                                           \
	NAME_LOCK(name, name, #name)

/* They lie together, one behind the other: aligned as the type is, not as the compiler likes. */
#define LOCK_NAMES __attribute__((used, section("lock_names"), aligned(8)))
struct lock_name {
	spinlock_t *lock;
	const char *class_name;
	size_t apart; /* bytes from one CPU's to the next one's; 0: there is one for all */
};

/* ---- classes and their counts ---------------------------------------------------------------- */

#define LOCK_CLASSES 192

/* The number of the class of this name, made if it is new; 0 when there are too many. */
u16 lock_class(const char *name);

/* Give the static locks their classes: before there are other CPUs. */
void lock_classes_init(void);

struct lock_class {
	const char *name;
	atomic64_t contended; /* acquisitions that found the lock taken */
	atomic64_t spins;     /* looks at it while waiting; 0 for a wait asleep */
};
extern struct lock_class lock_classes[LOCK_CLASSES]; /* [0]: locks without a name */
extern unsigned lock_class_count;

/* A lock of @class had to be waited for. Any context. */
static inline void lock_contended(u16 class, u64 spins)
{
	atomic_inc(&lock_classes[class].contended);
	atomic_add((s64)spins, &lock_classes[class].spins);
}

/* ---- the two kinds --------------------------------------------------------------------------- */

/* Wait and take it (@ticket: as that one); after a panic, take it. Saves every register, so that
 * who has a lock inlined and need not wait pays nothing. */
void ARCH_SAVES_REGISTERS spin_lock_wait(spinlock_t *lock, u8 ticket);

static __always_inline void __spin_lock(spinlock_t *lock)
{
	turn_lock_try(lock, &lock->class);
#ifdef CONFIG_SPINLOCK_TICKET
	u16 old = __atomic_fetch_add(&lock->state, 0x100, __ATOMIC_ACQUIRE);

	if (unlikely((u8)old != old >> 8))
		spin_lock_wait(lock, (u8)(old >> 8));
#else
	if (unlikely(__atomic_exchange_n(&lock->state, 1, __ATOMIC_ACQUIRE)))
		spin_lock_wait(lock, 0);
#endif
	turn_event(TURN_TAKEN);
}

static __always_inline void __spin_unlock(spinlock_t *lock)
{
	turn_lock_give(lock, &lock->class, TURN_GIVE);
#ifdef CONFIG_SPINLOCK_TICKET
	/* Only the holder writes this byte. */
	__atomic_store_n(&lock->serving, (u8)(lock->serving + 1), __ATOMIC_RELEASE);
#else
	__atomic_store_n(&lock->state, 0, __ATOMIC_RELEASE);
#endif
}

/* @level 1..3: the lock nests inside another of its class, in an order the caller guarantees. */
static __always_inline void spin_lock_nested(spinlock_t *lock, unsigned level)
{
	lockdep_acquire(lock, lock->class, level, LOCK_SPINS);
	__spin_lock(lock);
}

#define spin_lock(lock) spin_lock_nested(lock, 0)

static __always_inline void spin_unlock(spinlock_t *lock)
{
	lockdep_release(lock, lock->class);
	__spin_unlock(lock);
}

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
