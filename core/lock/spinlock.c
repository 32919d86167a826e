/*
 * spinlock.c - waiting for a lock: the part of a spinlock that is not inline; classes of locks.
 */
#include "core/kernel.h"

struct lock_class lock_classes[LOCK_CLASSES] = {{.name = "(unnamed)"}};
unsigned lock_class_count = 1;
static spinlock_t classes_lock;
bool panicking;

extern const struct lock_name __start_lock_names[], __stop_lock_names[];

u16 lock_class(const char *name)
{
	u16 i = 1;

	guard(spinlock_irqsave, &classes_lock);
	while (i < lock_class_count && strcmp(lock_classes[i].name, name))
		i++;
	if (i == LOCK_CLASSES)
		return 0;
	if (i == lock_class_count) {
		lock_classes[i].name = name;
		smp_store_release(&lock_class_count, i + 1u);
	}
	return i;
}

void lock_classes_init(void)
{
	for (const struct lock_name *at = __start_lock_names; at < __stop_lock_names; at++)
		for (unsigned cpu = 0; cpu < (at->apart ? NR_CPUS : 1); cpu++)
			((spinlock_t *)((char *)at->lock + cpu * at->apart))->class =
				lock_class(at->class_name);
}

void ARCH_SAVES_REGISTERS spin_lock_wait(spinlock_t *lock, u8 ticket)
{
	u64 spins = 0;

#ifdef CONFIG_SPINLOCK_TICKET
	for (; smp_load_acquire(&lock->serving) != ticket && !READ_ONCE(panicking); spins++)
		cpu_relax();
#else
	do {
		/* Only looking, so that the holder keeps the cache line. */
		for (; READ_ONCE(lock->state) && !READ_ONCE(panicking); spins++)
			cpu_relax();
	} while (__atomic_exchange_n(&lock->state, 1, __ATOMIC_ACQUIRE) && !panicking);
#endif
	lock_contended(lock->class, spins);
}
