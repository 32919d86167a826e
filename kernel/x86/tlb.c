/*
 * tlb.c - forgetting translations, on this CPU and on others.
 *
 * One request at a time, under flush_lock: the requester sends an interrupt to each CPU that may
 * hold translations of the root and spins, interrupts enabled, until all have answered. A CPU that
 * has left the root meanwhile has forgotten everything by loading CR3.
 */
#include <arch/mmu.h>
#include <arch/page.h>

#include "kernel/core/assert.h"
#include "kernel/core/spinlock.h"
#include "kernel/x86/x86.h"

#define MOST_PAGES 32 /* more than that: all of the address space */

static DEFINE_SPINLOCK(flush_lock);
static struct {
	struct mmu_root *root;
	u64 start, end;
	bool evict;  /* leave the root altogether */
	u64 waiting; /* CPUs that have not answered */
} request;

static void flush_here(u64 start, u64 end)
{
	if (end - start > MOST_PAGES * PAGE_SIZE) {
		write_cr3(read_cr3());
		return;
	}
	for (; start < end; start += PAGE_SIZE)
		invalidate_page(start);
}

/* The flush interrupt. */
void mmu_flush_interrupt(void)
{
	struct cpu *cpu = this_cpu();

	if (!(READ_ONCE(request.waiting) & (1ULL << cpu->id)))
		return;
	if (cpu->mmu_root == request.root) {
		if (request.evict)
			mmu_switch(NULL);
		else
			flush_here(request.start, request.end);
	}
	__atomic_fetch_and(&request.waiting, ~(1ULL << cpu->id), __ATOMIC_SEQ_CST);
}

static void flush_others(struct mmu_root *root, u64 others, u64 start, u64 end, bool evict)
{
	unsigned cpu;

	ASSERT(!arch_irqs_disabled()); /* two CPUs that flush would wait for each other */
	spin_lock(&flush_lock);
	request.root = root;
	request.start = start;
	request.end = end;
	request.evict = evict;
	__atomic_store_n(&request.waiting, others, __ATOMIC_SEQ_CST);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (others >> cpu & 1)
			lapic_send_ipi(cpus[cpu].apic_id, IPI_FIXED | VECTOR_FLUSH);
	while (__atomic_load_n(&request.waiting, __ATOMIC_ACQUIRE))
		cpu_relax();
	spin_unlock(&flush_lock);
}

void mmu_flush(struct mmu_root *root, u64 start, u64 end)
{
	u64 self = 1ULL << cpu_id(), cpus_of_root;

	/* The page-table stores before must be seen by any CPU that is missed here. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	cpus_of_root = READ_ONCE(root->cpus);
	if (cpus_of_root & self)
		flush_here(start, end);
	if (unlikely(cpus_of_root & ~self))
		flush_others(root, cpus_of_root & ~self, start, end, false);
}

/* No CPU is to be on @root any more. */
void mmu_evict(struct mmu_root *root)
{
	if (this_cpu()->mmu_root == root)
		mmu_switch(NULL);
	if (unlikely(READ_ONCE(root->cpus)))
		flush_others(root, READ_ONCE(root->cpus) & ~(1ULL << cpu_id()), 0, 0, true);
}
