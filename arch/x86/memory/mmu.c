/*
 * mmu.c - page tables: the kernel's half of every address space, the programs' halves as mm/ asks
 * for them (arch/mmu.h), and loading them.
 *
 *	ffff800000000000  the direct map: the first 4 GB and all RAM, writable, never executable, in
 *			  large pages
 *	ffffff8000000000  map_device(): device registers, uncached
 *	ffffff9000000000  kernel stacks (stacks.c)
 *	ffffffff80000000  the kernel's image: text read-execute, rodata read-only, rest read-write
 *
 * No address is both writable and executable. These are two entries of the top level, which never
 * change after boot, so every root has them by copy. The kernel's tables come from boot_alloc(),
 * that for 2 MB of device registers too; only the lowest of the stacks are made later.
 *
 * Four levels. Tables of one root hang in a list through struct page, each knowing the entry that
 * points to it, so that giving back an address space never scans a table. A table is given back
 * with all its entries 0 (mm/ has cleared the slots, we clear the pointers), and so each CPU keeps
 * a few for the next fork, zeroed already.
 *
 * Forgetting translations on other CPUs: each CPU has a place for its request; it sends an
 * interrupt to those that may hold translations of the root and spins, interrupts enabled, until
 * all have answered. A CPU that has left the root meanwhile has forgotten everything by loading
 * CR3; one that runs no task of it, as every CPU when a root is given up, leaves it then.
 *
 * Locks: the caller's page-table lock guards a root; no interrupt handler uses the per-CPU stock;
 * the kernel's tables change at start-up only, but for those of kernel stacks, whose lock is in
 * stacks.c.
 */
#include "arch/x86/x86.h"
#include "core/memory/page_alloc.h"

#define ENTRIES 512
#define DEVICE_MAP_BASE 0xffffff8000000000UL
#define DIRECT_ENTRY 256 /* of the top level */
#define IMAGE_ENTRY 511	 /* and device registers */

#define PAGE_KERNEL_TEXT (PTE_PRESENT | PTE_ACCESSED | PTE_GLOBAL)
#define PAGE_KERNEL (PAGE_KERNEL_TEXT | PTE_WRITE | PTE_DIRTY | PTE_NX)

/* ---- the kernel's half ----------------------------------------------------------------------- */

static u64 *kernel_page_table;

/* The entry for @address at the level whose entries cover 1 << @shift bytes. */
u64 *mmu_kernel_entry(u64 address, unsigned shift)
{
	u64 *table = kernel_page_table;

	for (unsigned level = 39; level > shift; level -= 9) {
		u64 *entry = &table[address >> level & (ENTRIES - 1)];

		if (*entry)
			table = phys_to_virt(*entry & PTE_ADDRESS);
		else
			table = memset(boot_alloc(PAGE_SIZE, PAGE_SIZE), 0, PAGE_SIZE);
		*entry = virt_to_phys(table) | PTE_PRESENT | PTE_WRITE | PTE_ACCESSED;
	}
	return &table[address >> shift & (ENTRIES - 1)];
}

static void map_pages(u64 address, phys_addr_t phys, u64 size, u64 flags)
{
	for (u64 offset = 0; offset < size; offset += PAGE_SIZE)
		*mmu_kernel_entry(address + offset, PAGE_SHIFT) = (phys + offset) | flags;
}

static void map_image(const char *start, const char *end, u64 flags)
{
	map_pages((u64)(uintptr_t)start, kernel_to_phys(start), (u64)(end - start), flags);
}

void mmu_init_kernel(void)
{
	kernel_page_table = memset(boot_alloc(PAGE_SIZE, PAGE_SIZE), 0, PAGE_SIZE);
	for (phys_addr_t at = 0; at < max_t(u64, boot_info.max_phys, GB(4)); at += MB(2))
		*mmu_kernel_entry(DIRECT_MAP_BASE + at, 21) = at | PAGE_KERNEL | PTE_LARGE;
	map_image(text_start, text_end, PAGE_KERNEL_TEXT);
	map_image(rodata_start, rodata_end, PAGE_KERNEL_TEXT | PTE_NX);
	map_image(data_start, kernel_end, PAGE_KERNEL);
	*mmu_kernel_entry((u64)(uintptr_t)boot_guard, PAGE_SHIFT) = 0;
	mmu_kernel_entry(DEVICE_MAP_BASE, PAGE_SHIFT);
	mmu_kernel_entry(STACKS_BASE, 21);
	boot_page_table[IMAGE_ENTRY] = kernel_page_table[IMAGE_ENTRY]; /* with the stacks of CPUs */
	mmu_load_kernel();
}

void mmu_load_kernel(void)
{
	write_cr(3, virt_to_phys(kernel_page_table));
}

void *map_device(phys_addr_t phys, size_t size)
{
	static u64 next = DEVICE_MAP_BASE;
	u64 address = next, offset = phys & (PAGE_SIZE - 1);
	u64 whole = round_up(offset + size, PAGE_SIZE);

	next += whole;
	map_pages(address, phys - offset, whole, PAGE_KERNEL | PTE_NO_CACHE);
	return (void *)(uintptr_t)(address + offset);
}

/* ---- the stock of tables --------------------------------------------------------------------- */

#define STOCK 32

static struct stock {
	struct page *pages[STOCK];
	unsigned count;
} __percpu_slot stocks[NR_CPUS];

/* A table of zeros, or NULL. */
static __always_inline struct page *take_table(void)
{
	struct stock *stock = &stocks[cpu_id()];
	struct page *page = stock->count ? stock->pages[--stock->count] : NULL;

	if (!page && (page = alloc_pages(GFP_ATOMIC | GFP_ZERO, 0)))
		memory_use_add(MEMORY_PAGE_TABLES, 1);
	return page;
}

static __always_inline void give_table(struct page *page)
{
	struct stock *stock = &stocks[cpu_id()];

	if (stock->count < STOCK) {
		stock->pages[stock->count++] = page;
		return;
	}
	memory_use_add(MEMORY_PAGE_TABLES, -1);
	__free_pages(page, 0);
}

/* ---- loading and forgetting ------------------------------------------------------------------ */

void mmu_switch(struct mmu_root *root)
{
	/* Against mmu_destroy() of the old root. */
	unsigned long irq = arch_irq_save();
	struct cpu *cpu = this_cpu();
	struct mmu_root *old = cpu->mmu_root;
	u64 bit = 1ULL << cpu->id;

	if (old != root) {
		/* Before the first translation can be cached; the old root's are gone when CR3 is
		 * written. */
		if (root)
			__atomic_fetch_or(&root->cpus, bit, __ATOMIC_SEQ_CST);
		cpu->mmu_root = root;
		write_cr(3, root ? root->table : virt_to_phys(kernel_page_table));
		if (old)
			__atomic_fetch_and(&old->cpus, ~bit, __ATOMIC_SEQ_CST);
	}
	arch_irq_restore(irq);
}

#define MOST_PAGES 32 /* more than that: all of the address space */

/* What each CPU asks of others. */
static struct request {
	struct mmu_root *root; /* NULL: the kernel's */
	u64 start, end;
	u64 waiting; /* CPUs that have not answered */
} __percpu_slot requests[NR_CPUS];

static void flush_here(u64 start, u64 end)
{
	if (end - start > MOST_PAGES * PAGE_SIZE)
		write_cr(3, read_cr(3));
	else
		for (; start < end; start += PAGE_SIZE)
			__asm__ __volatile__("invlpg (%0)" ::"r"(start) : "memory");
}

/* The flush interrupt. */
void mmu_flush_interrupt(void)
{
	struct cpu *cpu = this_cpu();
	u64 bit = 1ULL << cpu->id;

	for (unsigned i = 0; i < nr_cpus; i++) {
		if (!(__atomic_load_n(&requests[i].waiting, __ATOMIC_ACQUIRE) & bit))
			continue;
		if (!requests[i].root) {
			flush_here(requests[i].start, requests[i].end);
		} else if (cpu->mmu_root == requests[i].root) {
			if (current->mmu == cpu->mmu_root)
				flush_here(requests[i].start, requests[i].end);
			else
				mmu_switch(NULL);
		}
		__atomic_fetch_and(&requests[i].waiting, ~bit, __ATOMIC_SEQ_CST);
	}
}

static void flush_others(struct mmu_root *root, u64 others, u64 start, u64 end)
{
	unsigned self = cpu_id();

	ASSERT(!arch_irqs_disabled()); /* two CPUs that flush would wait for each other */
	requests[self] = (struct request){.root = root, .start = start, .end = end};
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
		flush_others(root, cpus_of_root & ~self, start, end);
}

void mmu_flush_kernel(u64 start, u64 end)
{
	u64 others = (BIT(nr_cpus) - 1) & ~BIT(cpu_id());

	flush_here(start, end);
	if (others)
		flush_others(NULL, others, start, end);
}

/* ---- roots and their tables ------------------------------------------------------------------ */

int mmu_create(struct mmu_root *root)
{
	const struct page *page = TRY_PTR(take_table());
	u64 *table = page_address(page);

	table[DIRECT_ENTRY] = kernel_page_table[DIRECT_ENTRY];
	table[IMAGE_ENTRY] = kernel_page_table[IMAGE_ENTRY];
	root->table = page_to_phys(page);
	root->cpus = 0;
	root->last_span = ~0ULL;
	root->table_count = 0;
	INIT_LIST_HEAD(&root->tables);
	return 0;
}

void mmu_destroy(struct mmu_root *root)
{
	u64 *table = phys_to_virt(root->table);
	struct page *page, *next;

	/* A CPU may still be on it, idle or in a kernel thread. */
	if (this_cpu()->mmu_root == root)
		mmu_switch(NULL);
	if (unlikely(READ_ONCE(root->cpus)))
		flush_others(root, READ_ONCE(root->cpus), 0, USER_TOP);
	list_for_each_entry_safe (page, next, &root->tables, table_list) {
		*page->table_parent = 0;
		give_table(page);
	}
	table[DIRECT_ENTRY] = table[IMAGE_ENTRY] = 0;
	give_table(phys_to_page(root->table));
}

/* The table that @entry points to. NULL: there is none (MMU_FIND), or no memory (MMU_MAKE). */
static u64 *table_below(struct mmu_root *root, u64 *entry, enum mmu_tables tables)
{
	struct page *page;

	if (likely(*entry))
		return phys_to_virt(*entry & PTE_ADDRESS);
	if (tables == MMU_FIND)
		return NULL;
	page = take_table();
	if (!page)
		return NULL;
	page->table_parent = entry;
	list_add(&page->table_list, &root->tables);
	WRITE_ONCE(root->table_count, root->table_count + 1);
	/* Another CPU's walker must not see the pointer before the zeros. */
	__atomic_store_n(entry,
			 page_to_phys(page) | PTE_PRESENT | PTE_WRITE | PTE_USER | PTE_ACCESSED,
			 __ATOMIC_RELEASE);
	return page_address(page);
}

pte_t *mmu_walk(struct mmu_root *root, u64 address, enum mmu_tables tables)
{
	u64 *table = phys_to_virt(root->table);
	unsigned shift;

#pragma GCC unroll 3
	for (shift = 39; shift > PAGE_SHIFT && table; shift -= 9)
		table = table_below(root, &table[address >> shift & (ENTRIES - 1)], tables);
	if (!table) {
		root->hole = BIT(shift + 9);
		return NULL;
	}
	root->last_span = address >> 21;
	root->last_slots = table;
	return &table[address >> PAGE_SHIFT & (ENTRIES - 1)];
}

static bool is_empty(const u64 *table)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		if (table[i])
			return false;
	return true;
}

void mmu_free_tables(struct mmu_root *root)
{
	struct page *page, *next;
	LIST_HEAD(freed);

	/* A table is in the list before the one that points to it: that may be empty then, too. */
	list_for_each_entry_safe (page, next, &root->tables, table_list)
		if (is_empty(page_address(page))) {
			*page->table_parent = 0;
			list_move(&page->table_list, &freed);
			WRITE_ONCE(root->table_count, root->table_count - 1);
		}
	if (list_empty(&freed))
		return;
	root->last_span = ~0ULL;
	mmu_flush(root, 0, USER_TOP); /* drops cached pointers to tables as well */
	list_for_each_entry_safe (page, next, &freed, table_list)
		give_table(page);
}
