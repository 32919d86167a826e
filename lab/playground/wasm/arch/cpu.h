/*
 * cpu.h - the playground: one processor, whose interrupts are always on, inside a WebAssembly
 * machine.
 */
#pragma once

#include "core/base/types.h"

#define NR_CPUS 1

struct task;

struct arch_task {
	int unused;
};

struct cpu {
	u32 id;
	volatile bool online;
};

extern struct cpu cpus[NR_CPUS];
extern unsigned nr_cpus;
extern struct task *const current; /* there is none: for headers that name it */

#define ARCH_SAVES_REGISTERS
#define REGION_MARK(region, end) ((void)0) /* there is no cache simulation here */

static inline unsigned cpu_id(void)
{
	return 0;
}

static inline struct cpu *this_cpu(void)
{
	return &cpus[0];
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

static inline void arch_irq_enable(void)
{
}

static inline void arch_irq_disable(void)
{
}

u64 arch_clock_ns(void); /* never called, and so not there */
