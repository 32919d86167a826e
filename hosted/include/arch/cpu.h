/*
 * cpu.h - hosted: processors of an ordinary process. Which of them runs, and how it is known whether
 * its interrupts are on, each build says for itself (own.h).
 */
#pragma once

#include "core/base/types.h"

#define NR_CPUS 16

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
extern struct task hosted_task; /* the test itself */

#define ARCH_SAVES_REGISTERS
#define REGION_MARK(region, end) ((void)0) /* there is no cache simulation here */

#include <arch/own.h>

static inline struct cpu *this_cpu(void)
{
	return &cpus[cpu_id()];
}

static inline void arch_irq_enable(void)
{
	arch_irq_restore(0);
}

static inline void arch_irq_disable(void)
{
	arch_irq_save();
}
