/*
 * mmu.c - hosted: page tables, and the part of a CPU that uses them. Implements arch/mmu.h and
 * mmu_access() of user.h.
 *
 * Each task that runs in an address space is on a CPU of its own, with a TLB: a copy of each entry
 * it went by, used until mmu_flush() takes it away or another takes its place, whatever the table
 * says by now. So who changes an entry and does not flush is found out: stores still go to the old
 * frame, or through an entry that was write-protected. A frame that is freed while some TLB has it
 * panics at once.
 *
 * As on the machine, an access sets the entry's accessed and dirty bits by compare-and-exchange
 * when its copy lacks them, and a store whose copy is writable and dirty does not look at the table
 * again. An access that its copy forbids forgets the copy and faults, even if the table would now
 * allow it. Page-table walks take no lock.
 *
 * Between translation and access other CPUs may do anything but complete a mmu_flush(), which waits
 * for the instruction, as its interrupt would. mmu_pause() stands there for them. With tasks.c
 * alone it is NULL: tasks change between instructions. A scheduler that switches anywhere sets it;
 * then it must let others run, and must not switch inside of this file elsewhere: it is the
 * hardware, to be compiled without such a scheduler's instrumentation.
 *
 * Locks: the caller's page-table lock around all that takes a root, as arch/mmu.h says.
 */
#include <string.h>

#include "hosted/machine/hosted.h"
#include "core/log/assert.h"
#include "core/sched/task.h"
#include "core/memory/page_alloc.h"
#include "mm/space/vm.h"
#include "hosted/machine/user.h"

#define ENTRIES 512
#define TLBS 64
#define TLB_ENTRIES 64

void (*mmu_pause)(void), (*mmu_fence)(void);

/* ---- TLBs ------------------------------------------------------------------------------------ */

struct translation {
	u64 page; /* its address | 1; 0: none */
	pte_t entry;
};

struct tlb {
	struct mmu_root *root; /* NULL: free */
	struct task *task;     /* that runs in it */
	bool between;	       /* it has translated an address that it is about to use */
	struct translation translations[TLB_ENTRIES];
};

static struct tlb tlbs[TLBS];
static unsigned tlbs_used; /* none from there on is in use */

static struct tlb *tlb_of(const struct task *task)
{
	for (struct tlb *tlb = tlbs; tlb < tlbs + tlbs_used; tlb++)
		if (tlb->root && tlb->task == task)
			return tlb;
	return NULL;
}

static struct translation *translation_of(struct tlb *tlb, u64 address)
{
	return &tlb->translations[(address >> PAGE_SHIFT) % TLB_ENTRIES];
}

static u64 tlb_bit(const struct tlb *tlb)
{
	return 1ULL << (tlb - tlbs);
}

void mmu_switch(struct mmu_root *root)
{
	struct tlb *tlb = tlb_of(current);

	if (tlb) {
		tlb->root->cpus &= ~tlb_bit(tlb);
		memset(tlb, 0, sizeof(*tlb));
	}
	if (!root)
		return;
	for (tlb = tlbs; tlb->root;)
		BUG_ON(++tlb == tlbs + TLBS);
	tlbs_used = max(tlbs_used, (unsigned)(tlb - tlbs) + 1);
	tlb->root = root;
	tlb->task = current;
	root->cpus |= tlb_bit(tlb);
}

static void forget(struct tlb *tlb, u64 start, u64 end)
{
	for (unsigned i = 0; i < TLB_ENTRIES; i++)
		if (tlb->translations[i].page > start && tlb->translations[i].page < end)
			tlb->translations[i].page = 0;
}

void mmu_flush(struct mmu_root *root, u64 start, u64 end)
{
	if (mmu_fence)
		mmu_fence();
	start = round_down(start, (u64)PAGE_SIZE);
	for (struct tlb *tlb = tlbs; tlb < tlbs + tlbs_used; tlb++) {
		if (!(root->cpus & tlb_bit(tlb)))
			continue;
		while (tlb->between && tlb->root == root && tlb->task != current)
			mmu_pause();
		if (tlb->root == root)
			forget(tlb, start, end);
	}
}

void mmu_frame_freed(phys_addr_t frame)
{
	for (const struct tlb *tlb = tlbs; tlb < tlbs + tlbs_used; tlb++)
		for (unsigned i = 0; i < TLB_ENTRIES; i++)
			if (tlb->translations[i].page &&
			    pte_page(tlb->translations[i].entry) == frame)
				panic("frame %llx is free, but task %d can still use it at %llx",
				      (unsigned long long)(frame >> PAGE_SHIFT),
				      (int)tlb->task->pid,
				      (unsigned long long)tlb->translations[i].page - 1);
}

/* ---- an access ------------------------------------------------------------------------------- */

/* The slot for @address, as the processor finds it: it makes no tables, and has no hints. */
static pte_t *find_slot(const struct mmu_root *root, u64 address)
{
	u64 *table = phys_to_virt(root->table);

	for (unsigned shift = 39; shift > PAGE_SHIFT; shift -= 9) {
		u64 entry = READ_ONCE(table[address >> shift & (ENTRIES - 1)]);

		if (!entry)
			return NULL;
		table = phys_to_virt(entry & PTE_ADDRESS);
	}
	return &table[address >> PAGE_SHIFT & (ENTRIES - 1)];
}

static bool allows(pte_t entry, unsigned access)
{
	return entry & PTE_PRESENT && (!(access & FAULT_WRITE) || pte_write(entry)) &&
	       (!(access & FAULT_EXEC) || pte_exec(entry));
}

/* The entry by which the access goes. Without PTE_PRESENT: there is none. It may forbid the
 * access. */
static pte_t walk(const struct mmu_root *root, u64 address, unsigned access)
{
	pte_t *slot = find_slot(root, address), entry = slot ? READ_ONCE(*slot) : 0, marked;

	do {
		if (!allows(entry, access))
			return entry;
		marked = entry | PTE_ACCESSED | (access & FAULT_WRITE ? PTE_DIRTY : 0);
	} while (marked != entry && !try_cmpxchg(slot, &entry, marked));
	return marked;
}

/* Where @address is in memory; NULL: *@fault says why it may not be touched so. */
static char *translate(struct tlb *tlb, u64 address, unsigned access, unsigned *fault)
{
	struct translation *cached = translation_of(tlb, address);
	u64 page = round_down(address, (u64)PAGE_SIZE) | 1;
	bool hit = cached->page == page;
	pte_t entry = hit ? cached->entry : walk(tlb->root, address, access);

	if (hit && allows(entry, access) && access & FAULT_WRITE && !(entry & PTE_DIRTY))
		entry = walk(tlb->root, address, access);
	if (!allows(entry, access)) {
		if (hit)
			cached->page = 0;
		*fault = access | (entry & PTE_PRESENT ? FAULT_PRESENT : 0);
		return NULL;
	}
	*cached = (struct translation){page, entry};
	return (char *)phys_to_virt(pte_page(entry)) + (address & (PAGE_SIZE - 1));
}

bool mmu_access(u64 address, void *data, size_t n, unsigned access, unsigned *fault)
{
	struct tlb *tlb = tlb_of(current);
	char *memory;

	BUG_ON(!tlb || tlb->root != &current->mm->mmu);
	BUG_ON(address >= USER_TOP || (address & 7) + n > 8);
	if (mmu_fence)
		mmu_fence();
	memory = translate(tlb, address, access, fault);
	if (!memory)
		return false;
	tlb->between = true;
	if (mmu_pause)
		mmu_pause();
	if (access & FAULT_WRITE)
		memcpy(memory, data, n);
	else
		memcpy(data, memory, n);
	tlb->between = false;
	return true;
}

/* ---- roots and their tables ------------------------------------------------------------------ */

static struct page *new_table(void)
{
	return alloc_pages(GFP_ATOMIC | GFP_ZERO, 0);
}

int mmu_create(struct mmu_root *root)
{
	const struct page *page = TRY_PTR(new_table());

	root->table = page_to_phys(page);
	root->cpus = 0;
	root->last_span = ~0ULL;
	root->table_count = 0;
	INIT_LIST_HEAD(&root->tables);
	return 0;
}

static bool is_empty(const struct page *table)
{
	const u64 *entries = page_address(table);

	for (unsigned i = 0; i < ENTRIES; i++)
		if (entries[i])
			return false;
	return true;
}

static void free_table(struct page *table)
{
	BUG_ON(!is_empty(table)); /* on the machine it goes back to a stock of zeros */
	put_page(table);
}

void mmu_destroy(struct mmu_root *root)
{
	struct page *table, *next;

	BUG_ON(root->cpus); /* some task runs in it */
	list_for_each_entry_safe (table, next, &root->tables, table_list) {
		*table->table_parent = 0;
		free_table(table);
	}
	free_table(phys_to_page(root->table));
}

pte_t *mmu_walk(struct mmu_root *root, u64 address, enum mmu_tables tables)
{
	u64 *table = phys_to_virt(root->table);

	for (unsigned shift = 39; shift > PAGE_SHIFT; shift -= 9) {
		u64 *entry = &table[address >> shift & (ENTRIES - 1)];

		if (!*entry) {
			struct page *page = tables == MMU_MAKE ? new_table() : NULL;

			if (!page) {
				root->hole = BIT(shift);
				return NULL;
			}
			page->table_parent = entry;
			list_add(&page->table_list, &root->tables);
			WRITE_ONCE(root->table_count, root->table_count + 1);
			*entry = page_to_phys(page) | PTE_PRESENT | PTE_WRITE | PTE_USER;
		}
		table = phys_to_virt(*entry & PTE_ADDRESS);
	}
	root->last_span = address / MMU_SLOTS_SPAN;
	root->last_slots = table;
	return &table[address >> PAGE_SHIFT & (ENTRIES - 1)];
}

void mmu_free_tables(struct mmu_root *root)
{
	struct page *table, *next;
	LIST_HEAD(freed);

	/* A table is in the list before the one that points to it. */
	list_for_each_entry_safe (table, next, &root->tables, table_list)
		if (is_empty(table)) {
			*table->table_parent = 0;
			list_move(&table->table_list, &freed);
			WRITE_ONCE(root->table_count, root->table_count - 1);
		}
	root->last_span = ~0ULL;
	mmu_flush(root, 0, USER_TOP);
	list_for_each_entry_safe (table, next, &freed, table_list)
		free_table(table);
}

/* ---- kernel stacks: tasks have those of the process ------------------------------------------- */

u64 arch_shrink_stacks(unsigned spare)
{
	(void)spare;
	return 0;
}
