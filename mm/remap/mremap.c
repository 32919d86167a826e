/*
 * mremap.c - mremap(2): an area becomes shorter, longer, or goes to another address with its pages.
 *
 * What moves are the entries of pages that are the process's own; pages of files are found again by
 * faults. The new area is made first, then the entries go over, then the old one is unmapped: no
 * page is ever without an area. What fails leaves the pages where they were; but what MREMAP_FIXED
 * found at the new address may be gone then, and the end of what was to become shorter.
 *
 * Limits: no MREMAP_DONTUNMAP, no second mapping of a shared area (an old length of 0), and what is
 * moved or grows lies in one area.
 */
#include "mm/space/vm_internal.h"

enum { MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2 };

struct move {
	struct mm *mm;
	u64 by; /* added to an address, modulo 2^64 */
	int error;
};

static bool is_anonymous(pte_t entry)
{
	return pte_is_swap(entry) || test_bit(PG_anon, &phys_to_page(pte_page(entry))->flags);
}

static void make_table(pte_t *slot, u64 address, void *argument)
{
	struct move *move = argument;

	if (is_anonymous(*slot) && !mmu_slot(&move->mm->mmu, address + move->by, MMU_MAKE))
		move->error = -ENOMEM;
}

static void move_entry(pte_t *slot, u64 address, void *argument)
{
	struct move *move = argument;

	if (is_anonymous(*slot))
		*mmu_slot(&move->mm->mmu, address + move->by, MMU_FIND) = xchg(slot, 0);
}

/* A part of @vma from @old on, mapped from @new to @end. */
static struct vma area_like(const struct vma *vma, u64 old, u64 new, u64 end)
{
	struct vma area = {
		.start = new,
		.end = end,
		.flags = vma->flags,
		.has_anonymous = vma->has_anonymous,
		.file = vma->file,
		.mapping = vma->mapping,
		.page_offset = vma_page_index(vma, old),
	};

	return area;
}

/* @vma, which is as long as @old_length says, goes to @new, where nothing is. 0 or -ENOMEM. */
static int move_area(struct mm *mm, struct vma *vma, u64 old_length, u64 new, u64 new_length)
{
	u64 old = vma->start, old_end = old + old_length;
	struct vma area = area_like(vma, old, new, new + new_length);
	struct move move = {.mm = mm, .by = new - old};

	if (area.has_anonymous) { /* then nothing can fail once something has moved */
		guard(spinlock, &mm->page_table_lock);
		visit_entries(mm, old, old_end, make_table, &move);
	}
	TRY(move.error);
	TRY(vma_add(mm, &area));
	if (area.has_anonymous) {
		find_vma(mm, new)->has_anonymous = true; /* it may have joined one that had none */
		guard(spinlock, &mm->page_table_lock);
		visit_entries(mm, old, old_end, move_entry, &move);
		mmu_flush(&mm->mmu, old, old_end);
	}
	return unmap_range(mm, old, old_end); /* at an end of an area: no need to split one */
}

/* The part of an area that begins at @old: 0, or -ENOMEM. */
static int move_part(struct mm *mm, u64 old, u64 old_length, u64 new, u64 new_length)
{
	struct vma *vma = vma_carve(mm, old, old + old_length);
	int error = PTR_ERR_OR_ZERO(vma);

	if (!error)
		error = move_area(mm, vma, old_length, new, new_length);
	if (error)
		vma_merge(mm, old, old + old_length);
	return error;
}

/* Is there room behind @vma for it to end at @end? */
static bool can_grow(const struct vma *vma, u64 end)
{
	return end > vma->end && end <= USER_TOP && range_is_free(vma->mm, vma->end, end);
}

/* [old, old + old_length) becomes @new_length long, which is no less: at @fixed_at with
 * MREMAP_FIXED; else at its place, or where there is room if it has none. An address, or -errno. */
static s64 resize(struct mm *mm, u64 old, u64 old_length, u64 new_length, u32 flags, u64 fixed_at)
{
	const struct vma *vma = find_vma(mm, old);
	u64 more = (new_length - old_length) >> PAGE_SHIFT, end = old + old_length;

	if (!old_length)
		return -EINVAL;
	if (!vma || vma->start > old || vma->end < end)
		return -EFAULT;
	if (more)
		TRY(may_expand(mm, more, vma->flags));
	if (is_data(vma->flags) && more > page_alloc_total_pages() + swap_total_pages())
		return -ENOMEM;
	if (!(flags & MREMAP_FIXED) && vma->end == end && can_grow(vma, old + new_length)) {
		const struct vma area = area_like(vma, end, end, old + new_length);

		TRY(vma_add(mm, &area));
		return (s64)old;
	}
	if (!(flags & MREMAP_MAYMOVE))
		return -ENOMEM;
	u64 new = fixed_at;
	if (!(flags & MREMAP_FIXED))
		new = (u64)TRY(find_free_range(mm, new_length));
	TRY(move_part(mm, old, old_length, new, new_length));
	return (s64)new;
}

/* May it go to @new, a fixed address? 0 or -errno. */
static int check_target(u64 old, u64 old_length, u64 new, u64 new_length)
{
	if (new & (PAGE_SIZE - 1) || new > USER_TOP - new_length)
		return -EINVAL;
	if (old + old_length > new && new + new_length > old)
		return -EINVAL;
	if (new < LOWEST_ADDRESS)
		return -EPERM;
	return 0;
}

s64 sys_mremap(u64 old, u64 old_length, u64 new_length, u32 flags, u64 new)
{
	struct mm *mm = current->mm;
	bool fixed = flags & MREMAP_FIXED;

	old_length = page_round_up(old_length);
	new_length = page_round_up(new_length);
	if (flags & ~(u32)(MREMAP_MAYMOVE | MREMAP_FIXED) || (fixed && !(flags & MREMAP_MAYMOVE)) ||
	    old & (PAGE_SIZE - 1) || !new_length || new_length > USER_TOP)
		return -EINVAL;
	if (old_length > USER_TOP || old > USER_TOP - old_length)
		return -EFAULT;
	if (fixed)
		TRY(check_target(old, old_length, new, new_length));
	/* room for tables, as mm_fork() makes it */
	u64 most = min(READ_ONCE(mm->mmu.table_count), old_length / MMU_SLOTS_SPAN + 1);
	if (page_alloc_free_pages() < most)
		reclaim_pages(most);
	guard(mm_write, mm);
	const struct vma *vma = find_vma(mm, old);
	if (!vma || vma->start > old)
		return -EFAULT;
	if (fixed)
		TRY(unmap_range(mm, new, new + new_length));
	if (new_length < old_length) {
		TRY(unmap_range(mm, old + new_length, old + old_length));
		old_length = new_length;
	}
	if (!fixed && new_length == old_length)
		return (s64)old;
	return resize(mm, old, old_length, new_length, flags, new);
}
