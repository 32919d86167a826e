/*
 * own.h - hosted: one CPU, the calling thread; interrupts are a flag that nothing but assertions
 * looks at; the clock moves when the tests move it, and a little at each look. Included by cpu.h.
 */
#pragma once

extern bool hosted_irqs_off;
extern u64 hosted_clock_ns;

static inline unsigned cpu_id(void)
{
	return 0;
}

#ifdef HOSTED_TASKS /* hosted/machine/tasks.c: several, one at a time */
extern struct task *hosted_current;
#define current hosted_current
#else
#define current (&hosted_task)
#endif

static inline void cpu_relax(void)
{
}

static inline void arch_local_add(s64 *counter, s64 value)
{
	*counter += value;
}

static inline unsigned long arch_irq_save(void)
{
	unsigned long flags = hosted_irqs_off;

	hosted_irqs_off = true;
	return flags;
}

static inline void arch_irq_restore(unsigned long flags)
{
	hosted_irqs_off = flags != 0;
}

static inline bool arch_irqs_disabled(void)
{
	return hosted_irqs_off;
}

static inline u64 arch_clock_ns(void)
{
	return hosted_clock_ns += 100;
}
