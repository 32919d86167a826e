/*
 * mmu_bits.h - the inlines that arch/mmu.h declares, over x86-64 page-table entries.
 *
 * A slot holds 0, a present entry, or a value of mm/'s own for "not here, but remembered" (swap):
 * such a value must have bits 0 (present) and 8 (PTE_NO_ACCESS) clear.
 */
#pragma once

#define PTE_PRESENT (1ULL << 0)
#define PTE_WRITE (1ULL << 1)
#define PTE_USER (1ULL << 2)
#define PTE_NO_CACHE (3ULL << 3) /* PWT and PCD: uncached */
#define PTE_ACCESSED (1ULL << 5)
#define PTE_DIRTY (1ULL << 6)
#define PTE_LARGE (1ULL << 7)
#define PTE_GLOBAL (1ULL << 8)	  /* of a present entry */
#define PTE_NO_ACCESS (1ULL << 8) /* of an entry that is not: a page kept under PROT_NONE */
#define PTE_SOFT_1 (1ULL << 9)	  /* free for mm/'s own marks; kept by every inline below */
#define PTE_SOFT_2 (1ULL << 10)
#define PTE_NX (1ULL << 63)
#define PTE_ADDRESS 0x000ffffffffff000ULL

static inline u64 pte_prot_bits(unsigned prot)
{
	u64 bits;

	if (!(prot & (MMU_READ | MMU_WRITE | MMU_EXEC)))
		return PTE_NO_ACCESS | PTE_NX;
	bits = PTE_PRESENT | PTE_USER;
	if (prot & MMU_WRITE)
		bits |= PTE_WRITE;
	if (!(prot & MMU_EXEC))
		bits |= PTE_NX;
	return bits;
}

/* An entry for the frame at @page; @prot 0 keeps the page but lets nobody touch it. Accessed is set
 * (whoever maps a page is about to use it), dirty is not. */
static inline pte_t pte_make(phys_addr_t page, unsigned prot)
{
	return page | pte_prot_bits(prot) | PTE_ACCESSED;
}

static inline bool pte_present(pte_t pte)
{
	return pte & (PTE_PRESENT | PTE_NO_ACCESS);
}

static inline bool pte_write(pte_t pte)
{
	return pte & PTE_WRITE;
}

static inline bool pte_dirty(pte_t pte)
{
	return pte & PTE_DIRTY;
}

static inline bool pte_accessed(pte_t pte)
{
	return pte & PTE_ACCESSED;
}

static inline phys_addr_t pte_page(pte_t pte)
{
	return pte & PTE_ADDRESS;
}

/* The entry @pte with another page. */
static inline pte_t pte_with_page(pte_t pte, phys_addr_t page)
{
	return (pte & ~PTE_ADDRESS) | page;
}

static inline pte_t pte_write_protect(pte_t pte)
{
	return pte & ~PTE_WRITE;
}

static inline pte_t pte_mkclean(pte_t pte)
{
	return pte & ~PTE_DIRTY;
}

static inline pte_t pte_mkdirty(pte_t pte)
{
	return pte | PTE_DIRTY;
}

static inline pte_t pte_mkold(pte_t pte)
{
	return pte & ~PTE_ACCESSED;
}

static inline pte_t pte_set_prot(pte_t pte, unsigned prot)
{
	return (pte & (PTE_ADDRESS | PTE_ACCESSED | PTE_DIRTY | PTE_SOFT_1 | PTE_SOFT_2)) |
	       pte_prot_bits(prot);
}

static inline pte_t *mmu_slot(struct mmu_root *root, u64 address, bool create)
{
	if (likely(root->last_span == address >> 21))
		return root->last_slots + (address >> 12 & 511);
	return mmu_walk(root, address, create);
}
