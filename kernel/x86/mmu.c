/*
 * mmu.c - page tables of programs, as mm/ asks for them (arch/mmu.h), and loading them.
 *
 * Four levels. The upper half of every root is the kernel's and fixed at boot (kernel_map.c): a new
 * root copies its entries. Tables of one root hang in a list through struct page, each knowing the
 * entry that points to it, so that giving back an address space never scans a table. A table is
 * given back with all its entries 0 (mm/ has cleared the slots, we clear the pointers), and so each
 * CPU keeps a few for the next fork, zeroed already.
 *
 * Locks: the caller's page-table lock guards a root; the per-CPU stock is used with interrupts off.
 */
#include <arch/mmu.h>
#include <arch/page.h>

#include "kernel/core/bitops.h"
#include "kernel/core/errno.h"
#include "kernel/core/percpu.h"
#include "kernel/core/string.h"
#include "kernel/x86/x86.h"
#include "mm/page_alloc.h"

#define ENTRIES 512
#define STOCK 24

static struct {
	struct page *tables[STOCK], *roots[STOCK];
	unsigned table_count, root_count;
} __percpu_slot stocks[NR_CPUS];

static struct page *table_alloc(void)
{
	struct page *page = alloc_pages(GFP_ATOMIC | GFP_ZERO, 0);

	if (page)
		memory_use_add(MEMORY_PAGE_TABLES, 1);
	return page;
}

static void table_free(struct page *page)
{
	memory_use_add(MEMORY_PAGE_TABLES, -1);
	__free_pages(page, 0);
}

static struct page *table_take(void)
{
	unsigned cpu;
	unsigned long irq = arch_irq_save();
	struct page *page = NULL;

	cpu = cpu_id();
	if (stocks[cpu].table_count)
		page = stocks[cpu].tables[--stocks[cpu].table_count];
	arch_irq_restore(irq);
	return page ? page : table_alloc();
}

static void table_give(struct page *page)
{
	unsigned cpu;
	unsigned long irq = arch_irq_save();

	cpu = cpu_id();
	if (stocks[cpu].table_count < STOCK) {
		stocks[cpu].tables[stocks[cpu].table_count++] = page;
		page = NULL;
	}
	arch_irq_restore(irq);
	if (page)
		table_free(page);
}

static struct page *root_take(void)
{
	unsigned cpu;
	unsigned long irq = arch_irq_save();
	struct page *page = NULL;

	cpu = cpu_id();
	if (stocks[cpu].root_count)
		page = stocks[cpu].roots[--stocks[cpu].root_count];
	arch_irq_restore(irq);
	if (!page) {
		page = table_alloc();
		if (page)
			memcpy((u64 *)page_address(page) + ENTRIES / 2,
			       kernel_page_table + ENTRIES / 2, PAGE_SIZE / 2);
	}
	return page;
}

static void root_give(struct page *page)
{
	unsigned cpu;
	unsigned long irq = arch_irq_save();

	cpu = cpu_id();
	if (stocks[cpu].root_count < STOCK) {
		stocks[cpu].roots[stocks[cpu].root_count++] = page;
		page = NULL;
	}
	arch_irq_restore(irq);
	if (page)
		table_free(page);
}

int mmu_create(struct mmu_root *root)
{
	struct page *page = root_take();

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
		table_give(page);
	}
	INIT_LIST_HEAD(&root->tables);
	root_give(phys_to_page(root->table));
	root->table = 0;
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

/* The table that @entry points to; made if it is missing and @create. NULL: none, or no memory. */
static u64 *table_below(struct mmu_root *root, u64 *entry, bool create)
{
	struct page *page;

	if (likely(*entry))
		return phys_to_virt(*entry & PTE_ADDRESS);
	if (!create)
		return NULL;
	page = table_take();
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
	if (!table)
		return NULL;
	table = table_below(root, &table[address >> 30 & 511], create);
	if (!table)
		return NULL;
	table = table_below(root, &table[address >> 21 & 511], create);
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
		table_give(page);
}
