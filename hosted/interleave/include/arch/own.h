/*
 * own.h - interleavings: each task runs on a CPU of its own, whose interrupts are a flag of its
 * own. Which task that is, only the run-time knows (ring/fibers.c): the compiled kernel asks by calls,
 * which are no accesses to memory that it would see. The same of the clock. Included by cpu.h.
 */
#pragma once

extern u64 hosted_clock_ns; /* of the tests */

/* A task keeps its CPU, so that within a function these stay what they are. */
unsigned ring_cpu_id(void) __attribute__((const));
struct task *ring_current(void) __attribute__((const));
bool *ring_irqs_off(void) __attribute__((const));
/* Somebody else has to go on first. */
void ring_relax(void);

#define current ring_current()
#define cpu_id() ring_cpu_id()
#define hosted_irqs_off (*ring_irqs_off())

static inline void cpu_relax(void)
{
	ring_relax();
}

unsigned long arch_irq_save(void);
void arch_irq_restore(unsigned long flags);
bool arch_irqs_disabled(void);

/* One instruction: no interrupt of this CPU comes between. */
void arch_local_add(s64 *counter, s64 value);
u64 arch_clock_ns(void);
