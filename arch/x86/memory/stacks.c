/*
 * stacks.c - kernel stacks: who goes deeper than his own meets no other memory but pages that are
 * not there, and so a double fault, which has a stack of its own and panics (traps.c).
 *
 * From STACKS_BASE on there are places of twice a stack's size: the upper half is the stack, of
 * single frames, the lower half is never mapped. A stack that is given back stays mapped, for the
 * next task, as long as there are few of them. Otherwise it is unmapped, its frames go back when
 * all CPUs have forgotten it, and its place can be taken again. The first processor's idle task has
 * boot_stack, with a page below it that is not mapped either.
 *
 * stack_lock guards the list of free stacks and the places. Whoever has taken a stack off the list,
 * or a place, has its entries to himself.
 */
#include "arch/x86/x86.h"
#include "core/memory/page_alloc.h"

#define PLACE_SIZE (2 * KERNEL_STACK_SIZE)
#define PLACES (GB(1) / PLACE_SIZE) /* what one table of the second level maps */
#define STACK_PAGES (KERNEL_STACK_SIZE / PAGE_SIZE)
#define SPARE_STACKS 32

static DEFINE_SPINLOCK(stack_lock);
static void *free_stacks; /* the lowest word of each points to the next */
static unsigned free_count;
static unsigned long used_places[PLACES / 64]; /* a bit for each */

bool is_below_stack(u64 address)
{
	return address - (u64)(uintptr_t)boot_guard < PAGE_SIZE ||
	       (address - STACKS_BASE < PLACES * PLACE_SIZE && !(address & KERNEL_STACK_SIZE));
}

/* The entries of the stack at @address, whose table is made if it is missing; NULL: no memory. */
static u64 *stack_entries(u64 address)
{
	u64 *table = mmu_kernel_entry(address, 21);

	lockdep_assert_held(&stack_lock);
	if (!*table) {
		const struct page *page = alloc_page(GFP_ATOMIC | GFP_ZERO);

		if (!page)
			return NULL;
		memory_use_add(MEMORY_PAGE_TABLES, 1);
		*table = page_to_phys(page) | PTE_PRESENT | PTE_WRITE | PTE_ACCESSED;
	}
	return mmu_kernel_entry(address, PAGE_SHIFT);
}

/* Take a place: its stack's address, and its entries; 0: there is none. */
static u64 take_place(u64 **entries)
{
	guard(spinlock, &stack_lock);
	unsigned long place = find_next_zero_bit(used_places, PLACES, 0);
	u64 address = STACKS_BASE + place * PLACE_SIZE + KERNEL_STACK_SIZE;

	if (place >= PLACES || !(*entries = stack_entries(address)))
		return 0;
	set_bit(place, used_places);
	return address;
}

static void *map_stack(void)
{
	struct page *pages[STACK_PAGES];
	u64 *entries, address = 0;
	unsigned count = 0;

	while (count < STACK_PAGES && (pages[count] = alloc_page(GFP_KERNEL | GFP_NOWARN)))
		count++;
	if (count == STACK_PAGES)
		address = take_place(&entries);
	if (!address) {
		while (count)
			put_page(pages[--count]);
		return NULL;
	}
	for (unsigned i = 0; i < STACK_PAGES; i++)
		entries[i] = page_to_phys(pages[i]) | PTE_PRESENT | PTE_WRITE | PTE_ACCESSED |
			     PTE_DIRTY | PTE_NX;
	memory_use_add(MEMORY_KERNEL_STACKS, STACK_PAGES);
	return (void *)(uintptr_t)address;
}

static void unmap_stack(void *stack)
{
	u64 address = (u64)(uintptr_t)stack, place = (address - STACKS_BASE) / PLACE_SIZE;
	u64 *entries = mmu_kernel_entry(address, PAGE_SHIFT);
	phys_addr_t frames[STACK_PAGES];

	for (unsigned i = 0; i < STACK_PAGES; i++)
		frames[i] = xchg(&entries[i], 0) & PTE_ADDRESS;
	mmu_flush_kernel(address, address + KERNEL_STACK_SIZE);
	for (unsigned i = 0; i < STACK_PAGES; i++)
		put_page(phys_to_page(frames[i]));
	memory_use_add(MEMORY_KERNEL_STACKS, -(s64)STACK_PAGES);
	clear_bit(place, used_places);
}

/* A free stack off the list, if there are more than @spare. */
static void *take_free(unsigned spare)
{
	guard(spinlock, &stack_lock);
	void **stack = free_stacks;

	if (free_count <= spare)
		return NULL;
	free_stacks = *stack;
	free_count--;
	return stack;
}

u64 arch_shrink_stacks(unsigned spare)
{
	u64 frames = 0;

	for (void *stack; (stack = take_free(spare)); frames += STACK_PAGES)
		unmap_stack(stack);
	return frames;
}

void *arch_stack_alloc(void)
{
	if (unlikely(READ_ONCE(free_count) > SPARE_STACKS))
		arch_shrink_stacks(SPARE_STACKS);
	return take_free(0) ?: map_stack();
}

void arch_stack_free(void *stack)
{
	guard(spinlock, &stack_lock);
	*(void **)stack = free_stacks;
	free_stacks = stack;
	free_count++;
}
