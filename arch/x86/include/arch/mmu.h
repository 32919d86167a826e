/*
 * mmu.h - user page tables, as mm/ uses them. Nothing here names a level or a bit of x86.
 *
 * A struct mmu_root is the root of one address space's page tables (the kernel half is shared by
 * all). Locks: the caller holds the address space's page-table lock (mm->page_table_lock) around
 * every call that takes a `struct mmu_root *`, except mmu_switch(), and mmu_create() and
 * mmu_destroy(), when nobody else works on the root. Nothing here sleeps.
 */
#pragma once

#include "core/base/list.h"
#include "core/base/types.h"

#define USER_TOP 0x00007ffffffff000ULL /* first address past what a program may map */

typedef u64 pte_t; /* one entry; 0 is "nothing here" */

struct mmu_root {
	phys_addr_t table;
	u64 cpus;		 /* bit per CPU that may hold translations of it; atomic */
	struct list_head tables; /* all tables but the root ... */
	u64 table_count;	 /* ... and how many: read without the lock */
	u64 last_span;		 /* mmu_slot() was there last: address / MMU_SLOTS_SPAN ... */
	pte_t *last_slots;	 /* ... and found this table */
	u64 hole;		 /* it found none at last: what that one empty entry spans */
};

/* Protection of a mapping. MMU_WRITE and MMU_EXEC are given together only for the page of an
 * instruction that writes to that page (write_rights(), mm/space/fault.c); nothing asserts it. */
#define MMU_READ (1u << 0)
#define MMU_WRITE (1u << 1)
#define MMU_EXEC (1u << 2)

/* 0 or -ENOMEM. */
int mmu_create(struct mmu_root *root);

/* Frees the tables. Every translation must have been cleared. */
void mmu_destroy(struct mmu_root *root);

/* Make @root (NULL: the kernel's own) the current address space of this CPU. */
void mmu_switch(struct mmu_root *root);

#define MMU_SLOTS_SPAN MB(2)

/* Free the tables in which every slot is 0. */
void mmu_free_tables(struct mmu_root *root);

/* Forget cached translations of [start, end) on every CPU that may hold them. May wait for other
 * CPUs: interrupts must be enabled, and no lock be held that an interrupt handler takes. */
void mmu_flush(struct mmu_root *root, u64 start, u64 end);

/* Give back the memory of kernel stacks that nobody uses, but for @spare of them: frames freed.
 * Interrupts and locks as for mmu_flush(). */
u64 arch_shrink_stacks(unsigned spare);

/* What becomes of tables that are missing on the way to an entry. */
enum mmu_tables { MMU_FIND, MMU_MAKE };
/* mmu_slot() by walking from the root. */
pte_t *mmu_walk(struct mmu_root *root, u64 address, enum mmu_tables tables);

/* What the machine tells of a fault (mm_fault()): its own bits. */
#define FAULT_PRESENT (1u << 0) /* there is an entry, which forbids the access: a hint */
#define FAULT_WRITE (1u << 1)
#define FAULT_USER (1u << 2) /* of a program, not of the kernel for it */
#define FAULT_EXEC (1u << 4)

/*
 * Entries. A slot holds 0, a present entry, or a value of mm/'s own for "not here, but remembered"
 * (swap): such a value must have bits 0 (present) and 8 (PTE_NO_ACCESS) clear.
 */
#define PTE_PRESENT (1ULL << 0)
#define PTE_WRITE (1ULL << 1)
#define PTE_USER (1ULL << 2)
#define PTE_NO_CACHE (3ULL << 3) /* PWT and PCD: uncached */
#define PTE_ACCESSED (1ULL << 5)
#define PTE_DIRTY (1ULL << 6)
#define PTE_LARGE (1ULL << 7)
#define PTE_GLOBAL (1ULL << 8)	  /* of a present entry */
#define PTE_NO_ACCESS (1ULL << 8) /* of an entry that is not: a page kept under PROT_NONE */
#define PTE_NX (1ULL << 63)
#define PTE_ADDRESS 0x000ffffffffff000ULL

static inline u64 pte_prot_bits(unsigned prot)
{
	u64 bits = PTE_PRESENT | PTE_USER;

	if (!(prot & (MMU_READ | MMU_WRITE | MMU_EXEC)))
		return PTE_NO_ACCESS | PTE_NX;
	if (prot & MMU_WRITE)
		bits |= PTE_WRITE;
	if (!(prot & MMU_EXEC))
		bits |= PTE_NX;
	return bits;
}

/* An entry for the frame at @page; @prot 0 keeps the page but lets nobody touch it. Accessed is set
 * (whoever maps a page is about to use it), dirty is not. */
#define pte_make(page, prot) ((page) | pte_prot_bits(prot) | PTE_ACCESSED)

#define pte_present(pte) (((pte) & (PTE_PRESENT | PTE_NO_ACCESS)) != 0)
#define pte_write(pte) (((pte)&PTE_WRITE) != 0)
#define pte_exec(pte) (((pte)&PTE_NX) == 0)
#define pte_page(pte) ((phys_addr_t)((pte)&PTE_ADDRESS))

/* The entry changed: with another page, not writable, with another @prot. */
#define pte_with_page(pte, page) (((pte) & ~PTE_ADDRESS) | (page))
#define pte_write_protect(pte) ((pte) & ~PTE_WRITE)
#define pte_set_prot(pte, prot)                                                                    \
	(((pte) & (PTE_ADDRESS | PTE_ACCESSED | PTE_DIRTY)) | pte_prot_bits(prot))

/*
 * The slot that translates @address; NULL if there is none (MMU_FIND), or no memory for a table
 * (MMU_MAKE). Valid until mmu_free_tables() or mmu_destroy(); consecutive slots follow one another
 * up to the next MMU_SLOTS_SPAN boundary (2 MB), which is how loops over ranges avoid a walk a
 * page.
 */
static inline pte_t *mmu_slot(struct mmu_root *root, u64 address, enum mmu_tables tables)
{
	if (likely(root->last_span == address >> 21))
		return root->last_slots + (address >> 12 & 511);
	return mmu_walk(root, address, tables);
}

/* Where behind @address, at which MMU_FIND has just found @slot (NULL: none), the next table or
 * hole begins: areas may be terabytes large, and nearly all of that hole. */
static inline u64 mmu_next_span(const struct mmu_root *root, u64 address, const pte_t *slot)
{
	u64 span = slot ? MMU_SLOTS_SPAN : root->hole;

	return round_down(address, span) + span;
}
