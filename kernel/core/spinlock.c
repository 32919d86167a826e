/*
 * spinlock.c - waiting for a lock: the part of a spinlock that is not inline.
 */
#include "kernel/core/spinlock.h"

#ifdef CONFIG_SPINLOCK_TICKET
void ARCH_SAVES_REGISTERS spin_lock_wait(spinlock_t *lock, u16 ticket)
{
	u64 spins = 0;

	while (__atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) != ticket) {
		cpu_relax();
		spins++;
	}
	lock_contended(lock_class_of(lock), spins);
}
#else
void ARCH_SAVES_REGISTERS spin_lock_wait(spinlock_t *lock)
{
	u64 spins = 0;

	do {
		/* Only looking, so that the holder keeps the cache line. */
		while (READ_ONCE(lock->state)) {
			cpu_relax();
			spins++;
		}
	} while (__atomic_exchange_n(&lock->state, 1, __ATOMIC_ACQUIRE));
	lock_contended(lock_class_of(lock), spins);
}
#endif
