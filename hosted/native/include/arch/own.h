/*
 * own.h - native: each thread of the process is a CPU, and runs one task, which never leaves it.
 * There are no interrupts, so turning them off costs nothing, which on the machine it does.
 * Included by cpu.h.
 */
#pragma once

extern __thread unsigned native_cpu;
extern __thread struct task *native_current;

#define current native_current

static __always_inline unsigned cpu_id(void)
{
	return native_cpu;
}

/* Where a lock's holder may have lost his processor to the thread that waits for him, the host has
 * to be asked now and then to give it back. */
void native_relax(void);

static __always_inline void cpu_relax(void)
{
	__builtin_ia32_pause();
	native_relax();
}

static __always_inline unsigned long arch_irq_save(void)
{
	return 0;
}

static __always_inline void arch_irq_restore(unsigned long flags)
{
	(void)flags;
}

static __always_inline bool arch_irqs_disabled(void)
{
	return false;
}

/* This CPU's alone, but for who sums them all up and may see it a moment late. */
static __always_inline void arch_local_add(s64 *counter, s64 value)
{
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(value));
}
