/*
 * spinlock.c - waiting for a ticket: the part of a spinlock that is not inline.
 */
#include "kernel/core/spinlock.h"

void ARCH_SAVES_REGISTERS spin_lock_wait(spinlock_t *lock, u16 ticket)
{
	u64 spins = 0;

	while (__atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) != ticket) {
		cpu_relax();
		spins++;
	}
	lock_contended(lock_class_of(lock), spins);
}
