/*
 * off.c - all that is in an area comes back: swapoff(2). Declared in swap.h.
 *
 * As many rounds as it takes through all address spaces: a fork may copy entries to one that has
 * been looked at, and a read may be under way. Between two rounds the pages go that only the cache
 * wants.
 */
#include "mm/space/vm_internal.h"
#include "mm/swap/swap.h"

static u32 rounds; /* mms_lock */

/* One that this round has not been to, with a reference; NULL: all have been. */
static struct mm *next_mm(u32 round)
{
	struct mm *mm;

	guard(spinlock, &mms_lock);
	list_for_each_entry (mm, &swap_mms, swap_link) {
		if (mm->swap_round == round)
			continue;
		mm->swap_round = round;
		if (atomic_inc_not_zero(&mm->users))
			return mm;
	}
	return NULL;
}

/* The first entry of @type from *@address on, up to @end: 0: there is none. */
static pte_t next_entry(struct mm *mm, unsigned type, u64 *address, u64 end)
{
	guard(spinlock, &mm->page_table_lock);
	while (*address < end) {
		const pte_t *slot = mmu_slot(&mm->mmu, *address, MMU_FIND);
		u64 next = min(mmu_next_span(&mm->mmu, *address, slot), end);

		for (; slot && *address < next; *address += PAGE_SIZE, slot++)
			if (pte_is_swap(*slot) && swap_type(pte_to_swap(*slot)) == type)
				return *slot;
		*address = next;
	}
	return 0;
}

/* All of @mm's come back: 0, -ENOMEM, -EIO, -EINTR. */
static int empty_mm(struct mm *mm, unsigned type)
{
	guard(read, &mm->lock);
	for_each_area (vma, mm, 0, USER_TOP) {
		u64 address = vma->start;
		pte_t pte;

		if (!vma->has_anonymous)
			continue;
		while ((pte = next_entry(mm, type, &address, vma->end)) != 0) {
			TRY(swap_bring_back(vma, address, pte, 0));
			if (signal_pending(current))
				return -EINTR;
			cond_resched();
		}
	}
	return 0;
}

static int empty_all(unsigned type)
{
	int error = 0;
	u32 round;
	{
		guard(spinlock, &mms_lock);
		round = ++rounds;
	}
	while (!error) {
		struct mm *mm = next_mm(round);

		if (!mm)
			break;
		error = empty_mm(mm, type);
		mm_put(mm);
	}
	if (!error)
		error = swap_shmem_empty(type);
	for (u64 entry = 0; (entry = swap_next_used(type, entry)) != 0;) {
		swap_cache_forget(entry, SWAP_WAIT);
		cond_resched();
	}
	return error;
}

/* Is there room for what is in the area, which is closed? */
static bool is_room(unsigned type)
{
	u64 room = page_alloc_free_pages() + memory_use_total(MEMORY_CACHED) + swap_free_pages();

	return swap_area_used(type) < room - min(room, memory_use_total(MEMORY_SHMEM));
}

int swap_area_empty(unsigned type)
{
	int error = 0;

	swap_area_open(type, false);
	if (!is_room(type))
		error = -ENOMEM;
	while (!error && swap_area_used(type)) {
		error = empty_all(type);
		if (!error && signal_pending(current))
			error = -EINTR;
		if (!error && swap_area_used(type))
			sleep_ns(NSEC_PER_MSEC);
	}
	if (error)
		swap_area_open(type, true);
	return error;
}
