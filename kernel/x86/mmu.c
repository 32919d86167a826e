/*
 * mmu.c - page tables of programs, as mm/ asks for them (arch/mmu.h), and loading them.
 *
 * Four levels. The upper half of every root is the kernel's and fixed at boot (kernel_map.c): a new
 * root copies its entries. Tables of one root hang in a list through struct page, each knowing the
 * entry that points to it, so that giving back an address space never scans a table. A table is
 * given back with all its entries 0 (mm/ has cleared the slots, we clear the pointers), and so each
 * CPU keeps a few for the next fork, zeroed already.
 *
 * Forgetting translations on other CPUs: each CPU has a place for its request; it sends an
 * interrupt to those that may hold translations of the root and spins, interrupts enabled, until
 * all have answered. A CPU that has left the root meanwhile has forgotten everything by loading
 * CR3.
 *
 * Locks: the caller's page-table lock guards a root; the per-CPU stock is used with interrupts off.
 */

#include "kernel/core/percpu.h"
#include "kernel/x86/x86.h"
#include "mm/page_alloc.h"

#define ENTRIES 512
#define STOCK 24

enum kind { TABLE, ROOT, KINDS };

static struct {
	struct page *pages[KINDS][STOCK];
	unsigned count[KINDS];
} __percpu_slot stocks[NR_CPUS];

static __always_inline struct page *take(enum kind kind)
{
	unsigned long irq = arch_irq_save();
	unsigned cpu = cpu_id();
	struct page *page = NULL;

	if (stocks[cpu].count[kind])
		page = stocks[cpu].pages[kind][--stocks[cpu].count[kind]];
	arch_irq_restore(irq);
	if (page)
		return page;
	page = alloc_pages(GFP_ATOMIC | GFP_ZERO, 0);
	if (!page)
		return NULL;
	memory_use_add(MEMORY_PAGE_TABLES, 1);
	if (kind == ROOT)
		memcpy((u64 *)page_address(page) + ENTRIES / 2, kernel_page_table + ENTRIES / 2,
		       PAGE_SIZE / 2);
	return page;
}

static __always_inline void give(enum kind kind, struct page *page)
{
	unsigned long irq = arch_irq_save();
	unsigned cpu = cpu_id();
	bool room = stocks[cpu].count[kind] < STOCK;

	if (room)
		stocks[cpu].pages[kind][stocks[cpu].count[kind]++] = page;
	arch_irq_restore(irq);
	if (room)
		return;
	memory_use_add(MEMORY_PAGE_TABLES, -1);
	__free_pages(page, 0);
}

void mmu_switch(struct mmu_root *root)
{
	unsigned long irq =
		arch_irq_save(); /* against mmu_evict() of the old root, which then is freed */
	struct cpu *cpu = this_cpu();
	struct mmu_root *old = cpu->mmu_root;
	u64 bit = 1ULL << cpu->id;

	if (old == root)
		goto out;
	/* Before the first translation can be cached; the old root's are gone when CR3 is written.
	 */
	if (root)
		__atomic_fetch_or(&root->cpus, bit, __ATOMIC_SEQ_CST);
	cpu->mmu_root = root;
	write_cr3(root ? root->table : virt_to_phys(kernel_page_table));
	if (old)
		__atomic_fetch_and(&old->cpus, ~bit, __ATOMIC_SEQ_CST);
out:
	arch_irq_restore(irq);
}

#define MOST_PAGES 32 /* more than that: all of the address space */

/* What each CPU asks of others. */
static struct {
	struct mmu_root *root;
	u64 start, end;
	bool evict;  /* leave the root altogether */
	u64 waiting; /* CPUs that have not answered */
} __percpu_slot requests[NR_CPUS];

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
	u64 bit = 1ULL << cpu->id;

	for (unsigned i = 0; i < nr_cpus; i++) {
		if (!(__atomic_load_n(&requests[i].waiting, __ATOMIC_ACQUIRE) & bit))
			continue;
		if (cpu->mmu_root == requests[i].root) {
			if (requests[i].evict)
				mmu_switch(NULL);
			else
				flush_here(requests[i].start, requests[i].end);
		}
		__atomic_fetch_and(&requests[i].waiting, ~bit, __ATOMIC_SEQ_CST);
	}
}

static void flush_others(struct mmu_root *root, u64 others, u64 start, u64 end, bool evict)
{
	unsigned self = cpu_id();

	ASSERT(!arch_irqs_disabled()); /* two CPUs that flush would wait for each other */
	requests[self].root = root;
	requests[self].start = start;
	requests[self].end = end;
	requests[self].evict = evict;
	__atomic_store_n(&requests[self].waiting, others, __ATOMIC_SEQ_CST);
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		if (others >> cpu & 1)
			lapic_send_ipi(cpus[cpu].apic_id, IPI_FIXED | VECTOR_FLUSH);
	while (__atomic_load_n(&requests[self].waiting, __ATOMIC_ACQUIRE))
		cpu_relax();
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
static void mmu_evict(struct mmu_root *root)
{
	if (this_cpu()->mmu_root == root)
		mmu_switch(NULL);
	if (unlikely(READ_ONCE(root->cpus)))
		flush_others(root, READ_ONCE(root->cpus) & ~(1ULL << cpu_id()), 0, 0, true);
}

int mmu_create(struct mmu_root *root)
{
	struct page *page = take(ROOT);

	if (!page)
		return -ENOMEM;
	root->table = page_to_phys(page);
	root->cpus = 0;
	root->last_span = ~0ULL;
	INIT_LIST_HEAD(&root->tables);
	return 0;
}

void mmu_destroy(struct mmu_root *root)
{
	struct page *page, *next;

	mmu_evict(root); /* a CPU may still be on it, idle or in a kernel thread */
	list_for_each_entry_safe (page, next, &root->tables, table_list) {
		*page->table_parent = 0;
		give(TABLE, page);
	}
	INIT_LIST_HEAD(&root->tables);
	give(ROOT, phys_to_page(root->table));
	root->table = 0;
}

/* The table that @entry points to; made if it is missing and @create. NULL: none, or no memory. */
static u64 *table_below(struct mmu_root *root, u64 *entry, bool create)
{
	struct page *page;

	if (likely(*entry))
		return phys_to_virt(*entry & PTE_ADDRESS);
	if (!create)
		return NULL;
	page = take(TABLE);
	if (!page)
		return NULL;
	page->table_parent = entry;
	list_add(&page->table_list, &root->tables);
	/* Another CPU's walker must not see the pointer before the zeros. */
	__atomic_store_n(entry,
			 page_to_phys(page) | PTE_PRESENT | PTE_WRITE | PTE_USER | PTE_ACCESSED,
			 __ATOMIC_RELEASE);
	return page_address(page);
}

pte_t *mmu_walk(struct mmu_root *root, u64 address, bool create)
{
	u64 *table = phys_to_virt(root->table);

	table = table_below(root, &table[address >> 39 & 511], create);
	table = table ? table_below(root, &table[address >> 30 & 511], create) : NULL;
	table = table ? table_below(root, &table[address >> 21 & 511], create) : NULL;
	if (!table)
		return NULL;
	root->last_span = address >> 21;
	root->last_slots = table;
	return &table[address >> 12 & 511];
}

/*
 * Unlink the tables below @table (whose entries cover 1 << @shift bytes each, the first one @base)
 * that lie wholly in [start, end), into @freed.
 */
static void unlink_tables(u64 *table, unsigned shift, u64 base, u64 start, u64 end,
			  struct list_head *freed)
{
	u64 size = 1ULL << shift;
	u64 address = max(base, round_down(start, size));
	u64 limit = min(end, base + size * ENTRIES);

	for (; address < limit; address += size) {
		u64 *entry = &table[address >> shift & (ENTRIES - 1)];
		struct page *page;

		if (!*entry)
			continue;
		page = phys_to_page(*entry & PTE_ADDRESS);
		if (shift > 21)
			unlink_tables(page_address(page), shift - 9, address, start, end, freed);
		if (address >= start && address + size <= end) {
			*entry = 0;
			list_move(&page->table_list, freed);
		}
	}
}

void mmu_free_tables(struct mmu_root *root, u64 start, u64 end)
{
	struct page *page, *next;
	LIST_HEAD(freed);

	unlink_tables(phys_to_virt(root->table), 39, 0, start, end, &freed);
	if (list_empty(&freed))
		return;
	root->last_span = ~0ULL;
	mmu_flush(root, start, end); /* drops cached pointers to tables as well */
	list_for_each_entry_safe (page, next, &freed, table_list)
		give(TABLE, page);
}
