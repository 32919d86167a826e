/*
 * cpu.h - the CPU that runs this code: its identity, its current task, its interrupt flag.
 *
 * GS holds the address of this CPU's struct cpu while in the kernel, so `current` and cpu_id() are
 * one instruction. The kernel is not preempted in kernel mode: this_cpu() and cpu_id() stay true
 * until the thread blocks. `current` is a constant of the thread.
 */
#pragma once

#include "core/base/types.h"

#define NR_CPUS CONFIG_NR_CPUS

struct task;

/* What the machine keeps in each struct task, as its first member. The registers that a program
 * sees lie at the top of its kernel stack (arch/process.h). */
struct arch_task {
	u64 sp;	     /* kernel stack pointer while the task is not running */
	u64 fs_base; /* thread pointer of the program (arch_prctl, CLONE_SETTLS) */
	void *fpu;   /* XSAVE area in the kernel stack's top; NULL in a kernel thread */
};

/* A function that changes no register but its result's: for slow paths that are called from inlined
 * fast ones. */
#define ARCH_SAVES_REGISTERS __attribute__((no_caller_saved_registers))

/*
 * An instruction that does nothing but be seen by the memory-cache simulation (lab/run/cachesim,
 * docs/lab/simulated/cache-simulation.md): here begins (@end 0) or ends (1) a region, the lookup of
 * a cache (@id of enum hash_cache_number) or the handling of an interrupt (4). They nest; nothing
 * sleeps in one.
 */
#ifdef CONFIG_REGION_MARKS
#define REGION_MARK(id, end)                                                                       \
	__asm__ __volatile__(".long 0x841f0f, %c0" ::"i"(0xc4c40000 | (id) << 8 | (end)) : "memory")
#else
#define REGION_MARK(id, end) ((void)0)
#endif

/*
 * The same for the simulation of several CPUs (core/lock/turns.h): what becomes of a lock, where a
 * turn may end. @event: a number below 256.
 */
#ifdef CONFIG_SHORT_TURNS
#define TURN_MARK(event)                                                                           \
	__asm__ __volatile__(".long 0x841f0f, %c0" ::"i"(0xc4c4fe00 | (event)) : "memory")

/* A mark, and then one byte read at @first and one at @second, in this order and nothing between,
 * not even an interrupt, whose reads would be taken for these: their addresses are seen. Returns
 * what @second holds. */
static __always_inline u8 arch_turn_mark_reads(u32 event, const volatile void *first,
					       const volatile void *second)
{
	u8 value;

	__asm__ __volatile__("pushfq\n\tcli\n\t"
			     ".long 0x841f0f, %c1\n\tmovb (%2), %0\n\tmovb (%3), %0\n\t"
			     "popfq"
			     : "=&q"(value)
			     : "i"(0xc4c4fe00 | event), "r"(first), "r"(second)
			     : "memory");
	return value;
}
#endif

/* Read by assembly (offsets in arch/x86/entry/offsets.h). */
struct cpu {
	struct cpu *self;
	struct task *running; /* what `current` reads */
	u64 kernel_stack;     /* where a system call's registers begin to be pushed; first boot's */
	u64 user_sp;	      /* scratch of the system call entry */
	char *exception_stacks;
	u32 id;		      /* 0 .. nr_cpus-1 */
	u32 apic_id;
	volatile bool online;
	struct mmu_root *mmu_root; /* address space loaded; NULL: the kernel's own */
	const struct registers *interrupted; /* of the interrupt being handled */
	u64 interrupts;			     /* device interrupts and IPIs taken */
} __aligned(64);

extern struct cpu cpus[NR_CPUS];
extern unsigned nr_cpus; /* CPUs running; 1 until smp_init() */

#define __percpu_self ((const struct cpu __seg_gs *)0)

static __always_inline struct cpu *this_cpu(void)
{
	return *(struct cpu *const volatile __seg_gs *)&__percpu_self->self;
}

static __always_inline unsigned cpu_id(void)
{
	return __percpu_self->id;
}

static __always_inline struct task *arch_current(void)
{
	struct task *task;

	/* Not volatile: a thread's `current` never changes, so the compiler may keep it. */
	__asm__("movq %%gs:%c1, %0" : "=r"(task) : "i"(offsetof(struct cpu, running)));
	return task;
}
#define current arch_current()

#define cpu_relax() __asm__ __volatile__("pause" ::: "memory")
#define arch_irq_enable() __asm__ __volatile__("sti" ::: "memory")
#define arch_irq_disable() __asm__ __volatile__("cli" ::: "memory")

#define FLAGS_IF (1UL << 9)

/* Disable interrupts and return the flag's former state for arch_irq_restore(). */
static __always_inline unsigned long arch_irq_save(void)
{
	unsigned long flags;

	__asm__ __volatile__("pushfq; popq %0; cli" : "=rm"(flags)::"memory");
	return flags;
}

static __always_inline void arch_irq_restore(unsigned long flags)
{
	if (flags & FLAGS_IF)
		arch_irq_enable();
}

static __always_inline bool arch_irqs_disabled(void)
{
	unsigned long flags;

	__asm__ __volatile__("pushfq; popq %0" : "=rm"(flags));
	return !(flags & FLAGS_IF);
}

/* Add to a counter of this CPU in one instruction: whole to its interrupts, not to other CPUs. */
static __always_inline void arch_local_add(s64 *counter, s64 value)
{
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(value));
}

/*
 * Wait for an interrupt: the idle loop. Called with interrupts disabled after the caller found
 * nothing to run; returns with interrupts enabled. Stops the scheduler tick of this CPU while it
 * sleeps.
 */
void arch_halt(void);

/* Have CPU @id look at its run queue (TASK_PENDING_RESCHED must have been set): a reschedule IPI.
 */
void arch_send_reschedule(unsigned id);
