/*
 * cpu.h - hosted: one CPU, the calling thread; interrupts are a flag that nothing but assertions
 * looks at.
 */
#pragma once

#include "core/base/types.h"

#define NR_CPUS 16

struct task;

struct arch_task {
	int unused;
};

#define ARCH_SAVES_REGISTERS

struct cpu {
	u32 id;
	volatile bool online;
};

extern struct cpu cpus[NR_CPUS];
extern unsigned nr_cpus;
extern struct task hosted_task;
extern bool hosted_irqs_off;

static inline struct cpu *this_cpu(void)
{
	return &cpus[0];
}

#define REGION_MARK(region, end) ((void)0)

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

static inline void arch_irq_enable(void)
{
	hosted_irqs_off = false;
}

static inline void arch_irq_disable(void)
{
	hosted_irqs_off = true;
}

static inline bool arch_irqs_disabled(void)
{
	return hosted_irqs_off;
}

#define REGION_MARK(region, end) ((void)0) /* there is no cache simulation here */
