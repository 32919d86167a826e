/*
 * own.h - the playground: one processor, whose interrupts are always on, inside a WebAssembly
 * machine. Included by the hosted build's cpu.h.
 */
#pragma once

extern struct task *const current; /* there is none: for headers that name it */

static inline unsigned cpu_id(void)
{
	return 0;
}

static inline void cpu_relax(void)
{
}

static inline void arch_local_add(s64 *counter, s64 value)
{
	*counter += value;
}

static inline unsigned long arch_irq_save(void)
{
	return 0;
}

static inline void arch_irq_restore(unsigned long flags)
{
}

static inline bool arch_irqs_disabled(void)
{
	return false;
}

u64 arch_clock_ns(void); /* never called, and so not there */
