/*
 * mlock.c - mlock(2) and its relatives: pages that are to stay in memory.
 *
 * Without SWAP a page that a process has to itself stays until it goes itself, locked or not: so to
 * lock means to touch all pages, and to unlock nothing, and nothing is remembered. With SWAP an
 * area is marked (VM_LOCKED) before it is touched, and swap leaves it alone.
 *
 * Limits: pages of a file may be dropped and read in again; MCL_FUTURE: what is mapped later comes
 * when it is touched, and above RLIMIT_MEMLOCK is ENOMEM. Without SWAP only what one call asks for
 * counts for that; with it, what is locked again counts twice in that call.
 */
#include "kernel/proc/process.h"
#include "mm/swap/swap.h"

enum { MCL_CURRENT = 1, MCL_FUTURE = 2, MCL_ONFAULT = 4, MLOCK_ONFAULT = 1 };

#ifdef CONFIG_SWAP

/* RLIMIT_MEMLOCK, for areas that grow or come later. */
static void set_most(u64 pages)
{
	guard(write, &current->mm->lock);
	current->mm->locks_most = pages;
}

static u64 locked_pages(void)
{
	guard(read, &current->mm->lock);
	return mm_locked_pages(current->mm);
}

/* Mark the areas: 0 or -ENOMEM. */
static int set_locked(u64 start, u64 end, enum swap_locking locking)
{
	return mm_set_locked(current->mm, start, end, locking);
}

/* Is what is mapped later locked? */
static void set_future(bool locked)
{
	guard(write, &current->mm->lock);
	current->mm->locks_future = locked;
}

#else

#define locked_pages() 0ULL
#define set_locked(start, end, locking) 0
#define set_future(locked) ((void)0)
#define set_most(pages) ((void)(pages))

#endif

/* May the process have @pages locked? 0, -EPERM (it may lock nothing), -ENOMEM. */
static int may_lock(u64 pages)
{
	u64 limit = capable(current->cred) ? ~0ULL : current_limit(RLIMIT_MEMLOCK);

	if (!limit)
		return -EPERM;
	if (limit != ~0ULL && pages > limit >> PAGE_SHIFT)
		return -ENOMEM;
	set_most(limit >> PAGE_SHIFT);
	return 0;
}

/* Have the page at @address be there, and be the process's own where it may write to it: 0, -ENOMEM
 * (nothing is there, or it must not be touched) or -EAGAIN (out of memory). */
static int touch(struct mm *mm, u64 address)
{
	unsigned access = FAULT_USER;
	bool there;

	{
		guard(read, &mm->lock);
		const struct vma *vma = find_vma(mm, address);
		if (!vma || vma->start > address || !(vma->flags & VM_RIGHTS))
			return -ENOMEM;
		if ((vma->flags & (VM_WRITE | VM_SHARED)) == VM_WRITE)
			access |= FAULT_WRITE;
		guard(spinlock, &mm->page_table_lock);
		const pte_t *slot = mmu_slot(&mm->mmu, address, MMU_FIND);
		there = slot && pte_present(*slot);
		if (there && (!(access & FAULT_WRITE) || pte_write(*slot)))
			return 0;
	}
	if (there)
		access |= FAULT_PRESENT;
	int error = mm_fault(mm, address, access);
	if (error == -ENOMEM)
		return -EAGAIN;
	if (error)
		return -ENOMEM;
	return 0;
}

/* All pages from @start to @end, as long as none fails. */
static int touch_range(struct mm *mm, u64 start, u64 end)
{
	for (; start < end; start += PAGE_SIZE) {
		TRY(touch(mm, start));
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* From @start on all addresses up to this one, at most @end, are mapped. */
static u64 mapped_until(struct mm *mm, u64 start, u64 end)
{
	guard(read, &mm->lock);
	while (start < end) {
		const struct vma *vma = find_vma(mm, start);

		if (!vma || vma->start > start)
			return start;
		start = vma->end;
	}
	return end;
}

enum range_change { UNLOCK, LOCK, LOCK_AND_TOUCH };

static s64 change_range(u64 start, u64 length, enum range_change change)
{
	u64 end = round_up(start + length, (u64)PAGE_SIZE);

	start = round_down(start, (u64)PAGE_SIZE);
	if (change != UNLOCK)
		TRY(may_lock(locked_pages() + ((end - start) >> PAGE_SHIFT)));
	if (end < start)
		return -EINVAL;
	u64 mapped = mapped_until(current->mm, start, end);
	if (mapped > start)
		TRY(set_locked(start, mapped, change == UNLOCK ? SWAP_UNLOCK : SWAP_LOCK));
	if (mapped < end)
		return -ENOMEM; /* what lies before the hole has changed, as in Linux */
	if (change == LOCK_AND_TOUCH)
		return touch_range(current->mm, start, end);
	return 0;
}

s64 sys_mlock2(u64 address, u64 length, u32 flags)
{
	if (flags & ~(u32)MLOCK_ONFAULT)
		return -EINVAL;
	return change_range(address, length, flags & MLOCK_ONFAULT ? LOCK : LOCK_AND_TOUCH);
}

s64 sys_mlock(u64 address, u64 length)
{
	return change_range(address, length, LOCK_AND_TOUCH);
}

s64 sys_munlock(u64 address, u64 length)
{
	return change_range(address, length, UNLOCK);
}

/* As in Linux, what cannot be touched is left out. */
static void touch_all(struct mm *mm)
{
	for (u64 at = 0; at < USER_TOP && !fatal_signal_pending(current);) {
		u64 end;
		{
			guard(read, &mm->lock);
			const struct vma *vma = find_vma(mm, at);
			if (!vma)
				return;
			at = max(at, vma->start);
			end = vma->end;
		}
		(void)touch_range(mm, at, end);
		at = end;
	}
}

s64 sys_mlockall(u32 flags)
{
	struct mm *mm = current->mm;

	if (!flags || flags == MCL_ONFAULT ||
	    flags & ~(u32)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		return -EINVAL;
	TRY(may_lock(0));
	if (flags & MCL_CURRENT)
		TRY(may_lock(READ_ONCE(mm->total_pages)));
	if (flags & MCL_CURRENT)
		TRY(set_locked(0, USER_TOP, SWAP_LOCK));
	set_future(flags & MCL_FUTURE);
	if ((flags & (MCL_CURRENT | MCL_ONFAULT)) == MCL_CURRENT)
		touch_all(mm);
	return 0;
}

s64 sys_munlockall(void)
{
	set_future(false);
	return set_locked(0, USER_TOP, SWAP_UNLOCK);
}
