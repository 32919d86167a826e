/*
 * mmu.h - user page tables, as mm/ uses them. Nothing here names a level or a bit of x86.
 *
 * A struct mmu_root is the root of one address space's page tables (the kernel half is shared by
 * all). Locks: the caller holds the address space's page-table lock (mm->page_table_lock) around
 * every call that takes a `struct mmu_root *`, except mmu_switch(). Nothing here sleeps.
 */
#pragma once

#include "kernel/core/list.h"
#include "kernel/core/types.h"

#define USER_TOP 0x00007ffffffff000ULL /* first address past what a program may map */

typedef u64 pte_t; /* one entry; 0 is "nothing here" */

struct mmu_root {
	phys_addr_t table;
	u64 cpus;		 /* bit per CPU that may hold translations of it; atomic */
	struct list_head tables; /* all tables but the root */
	u64 last_span;		 /* mmu_slot() was there last: address / MMU_SLOTS_SPAN ... */
	pte_t *last_slots;	 /* ... and found this table */
};

/* Protection of a mapping. MMU_WRITE and MMU_EXEC are never both given: W^X is asserted. */
#define MMU_READ (1u << 0)
#define MMU_WRITE (1u << 1)
#define MMU_EXEC (1u << 2)

/* 0 or -ENOMEM. */
int mmu_create(struct mmu_root *root);

/* Frees the tables. Every translation must have been cleared. */
void mmu_destroy(struct mmu_root *root);

/* Make @root (NULL: the kernel's own) the current address space of this CPU. */
void mmu_switch(struct mmu_root *root);

/*
 * The slot that translates @address; NULL if there is none and !@create, or when no memory for a
 * table. Valid until mmu_free_tables() or mmu_destroy(); consecutive slots follow one another up to
 * the next MMU_SLOTS_SPAN boundary (2 MB), which is how loops over ranges avoid a walk a page.
 */
static inline pte_t *mmu_slot(struct mmu_root *root, u64 address, bool create);
#define MMU_SLOTS_SPAN MB(2)

/* Free the tables that lie wholly in [start, end); every slot there must be 0. */
void mmu_free_tables(struct mmu_root *root, u64 start, u64 end);

static inline pte_t pte_make(phys_addr_t page, unsigned prot);
static inline bool pte_present(pte_t pte);
static inline bool pte_write(pte_t pte);
static inline bool pte_dirty(pte_t pte);
static inline bool pte_accessed(pte_t pte);
static inline phys_addr_t pte_page(pte_t pte);
static inline pte_t pte_with_page(pte_t pte, phys_addr_t page);
static inline pte_t pte_write_protect(pte_t pte);
static inline pte_t pte_mkclean(pte_t pte);
static inline pte_t pte_mkold(pte_t pte);
static inline pte_t pte_set_prot(pte_t pte, unsigned prot);

/* Forget cached translations of [start, end) on every CPU that may hold them. May wait for other
 * CPUs: interrupts must be enabled, and no lock be held that an interrupt handler takes. */
void mmu_flush(struct mmu_root *root, u64 start, u64 end);

/* mmu_slot() by walking from the root. */
pte_t *mmu_walk(struct mmu_root *root, u64 address, bool create);

#include <arch/mmu_bits.h> /* the inlines declared above */
