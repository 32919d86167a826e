/*
 * cpu.h - interleavings: each task runs on a CPU of its own, whose interrupts are a flag of its
 * own. Which task that is, only the run-time knows (fibers.c): the compiled kernel asks by calls,
 * which are no accesses to memory that it would see.
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

/* A task keeps its CPU, so that within a function these stay what they are. */
unsigned ring_cpu_id(void) __attribute__((const));
struct task *ring_current(void) __attribute__((const));
bool *ring_irqs_off(void) __attribute__((const));
/* Somebody else has to go on first. */
void ring_relax(void);

#define current ring_current()
#define cpu_id() ring_cpu_id()
#define hosted_irqs_off (*ring_irqs_off())

static inline struct cpu *this_cpu(void)
{
	return &cpus[cpu_id()];
}

#define REGION_MARK(region, end) ((void)0) /* there is no cache simulation here */

static inline void cpu_relax(void)
{
	ring_relax();
}

unsigned long ring_irq_save(void);
void ring_irq_restore(unsigned long flags);

static inline unsigned long arch_irq_save(void)
{
	return ring_irq_save();
}

static inline void arch_irq_restore(unsigned long flags)
{
	ring_irq_restore(flags);
}

static inline void arch_irq_enable(void)
{
	ring_irq_restore(false);
}

static inline void arch_irq_disable(void)
{
	ring_irq_save();
}

bool arch_irqs_disabled(void);

/* One instruction: no interrupt of this CPU comes between. */
void arch_local_add(s64 *counter, s64 value);
