/*
 * fault.c - page faults. Declared in vm.h.
 *
 * mm->lock is held for reading, so areas and page tables stay; the page-table lock is let go while
 * memory is allocated or a page is read, and what was found in the entry is checked again before it
 * is replaced. When somebody else was faster the fault has nothing to do: the program tries again.
 *
 * Anonymous memory: a fresh zeroed frame at the first touch, reading or writing (there is no shared
 * zero page: most of what is read first is written soon, and that would be a second fault). Private
 * file: the page of the cache, read-only, until it is written to: then a copy. Shared file:
 * read-only until written to, then the page is marked dirty first. A read fault maps what the cache
 * has of the pages around it too.
 */
#include <arch/process.h>

#include "mm/cache/page_lookup.h"
#include "mm/space/vm_internal.h"

#define AROUND 8u /* pages that a read fault maps if the cache has them, aligned; as Linux */
#define OOM_PAUSE_NS (10 * NSEC_PER_MSEC)
#define OOM_ROUNDS 300
#define RECLAIM_ROUNDS 8 /* more than one fault needs pages: then others take what we reclaim */

bool (*oom_killer)(void);

struct fault {
	struct vma *vma;
	u64 address; /* of the page */
	unsigned access;
	pte_t *slot, old; /* old: what was in it */
	const struct page *from; /* a file's, referenced: the new page is its copy; or NULL */
	/* a page of it was dirtied and there are too many: to be written out; or NULL */
	struct file *dirtied;
};

/* ---- anonymous pages ------------------------------------------------------------------------- */

static struct page *anonymous_page(struct vma *vma, unsigned gfp)
{
	struct page *page = alloc_page(GFP_KERNEL | GFP_NOWARN | gfp);

	if (likely(page)) {
		page->flags = BIT(PG_anon);
		WRITE_ONCE(vma->has_anonymous, true); /* other faults may do so, too */
		memory_use_add(MEMORY_ANON, 1);
	}
	return page;
}

/* The most common fault: nothing is known of the entry, but most likely it is empty. */
static int fault_anonymous(struct vma *vma, u64 address)
{
	struct mm *mm = vma->mm;
	struct page *page = anonymous_page(vma, GFP_ZERO);
	pte_t *slot;

	if (unlikely(!page))
		return -ENOMEM;
	spin_lock(&mm->page_table_lock);
	slot = mmu_slot(&mm->mmu, address, MMU_MAKE);
	if (likely(slot && !*slot)) {
		*slot = pte_make(page_to_phys(page), vma_page_rights(vma));
		mm->resident_pages++;
		page = NULL;
	}
	spin_unlock(&mm->page_table_lock);
	if (unlikely(page))
		put_page(page);
	return slot ? 0 : -ENOMEM;
}

/* ---- pages of files -------------------------------------------------------------------------- */

/* The uptodate page that the fault is about, with a reference; ERR_PTR(-EIO): behind the end, or
 * unreadable; ERR_PTR(-ENOMEM). */
static struct page *file_page(const struct fault *fault)
{
	struct vma *vma = fault->vma;
	struct address_space *mapping = vma->mapping;
	pgoff_t index = vma_page_index(vma, fault->address);
	pgoff_t wanted = vma_page_index(vma, vma->end) - index;
	struct page *page;

	if (unlikely(index >= mapping_pages(mapping)))
		return ERR_PTR(-EIO);
	page = page_lookup(mapping, index);
	if (likely(page && page_uptodate(page)))
		return page;
	if (!page && mapping->ops->writepage) {
		current->minor_faults--;
		current->major_faults++;
	}
	page = mapped_files->read_page(vma->file, mapping, index, min_t(pgoff_t, wanted, AROUND),
				       page);
	/* whatever is wrong with the file is an error in reading it */
	return IS_ERR_OR_NULL(page) && page != ERR_PTR(-ENOMEM) ? ERR_PTR(-EIO) : page;
}

/* Map what is in the cache of the pages around the one at fault, whose slot is filled. The lock is
 * held. */
static void map_around(struct fault *fault)
{
	struct vma *vma = fault->vma;
	struct address_space *mapping = vma->mapping;
	u64 bytes = AROUND * PAGE_SIZE, mapped = 0;
	u64 start = max(round_down(fault->address, bytes), vma->start);
	u64 end = min(round_down(fault->address, bytes) + bytes, vma->end);
	pte_t *slot = fault->slot - ((fault->address - start) >> PAGE_SHIFT);
	pgoff_t index = vma_page_index(vma, start), pages = mapping_pages(mapping);
	const pte_t entry = pte_make(0, vma_page_rights(vma) & ~(unsigned)MMU_WRITE);

	lockdep_assert_held(&vma->mm->page_table_lock);
	for (; start < end && index < pages; start += PAGE_SIZE, slot++, index++) {
		struct page *page;

		if (*slot)
			continue;
		page = page_lookup(mapping, index);
		if (!page)
			continue;
		if (unlikely(!page_uptodate(page) || READ_ONCE(page->mapping) != mapping)) {
			put_page(page);
			continue;
		}
		atomic_inc(&page->mapcount);
		*slot = pte_with_page(entry, page_to_phys(page));
		mapped++;
	}
	vma->mm->resident_pages += mapped;
	vma->mm->file_pages += mapped;
}

/* ---- the entry ------------------------------------------------------------------------------- */

/*
 * Make @page the entry in place of what was there when the fault began; takes its reference over.
 * When somebody else was faster, or the page of a file was truncated meanwhile (see page_cache.c),
 * the fault has nothing to do; nor when swap has taken the same page away and brought it back, so
 * that it is to be written to, and the swap cache has it, too. The processor that faulted has
 * forgotten the old entry of the same page; another one faults, and comes here.
 */
static void set_entry(struct fault *fault, struct page *page, unsigned rights)
{
	struct mm *mm = fault->vma->mm;
	struct page *old = fault->old ? phys_to_page(pte_page(fault->old)) : NULL;
	bool file = !test_bit(PG_anon, &page->flags);
	bool old_file = old && !test_bit(PG_anon, &old->flags);
	bool alone = old == page && !file && rights & MMU_WRITE;
	const struct page *shown = file ? page : fault->from;

	spin_lock(&mm->page_table_lock);
	if (unlikely(*fault->slot != fault->old ||
		     (shown && shown->mapping != fault->vma->mapping) ||
		     (alone && atomic_read(&page->refcount) != 2))) {
		spin_unlock(&mm->page_table_lock);
		put_page(page);
		return;
	}
	if (old && (old != page || pte_exec(fault->old))) {
		*fault->slot = 0; /* first nobody has the old page, then who looks the new one */
		mmu_flush(&mm->mmu, fault->address, fault->address + PAGE_SIZE);
	}
	*fault->slot = pte_make(page_to_phys(page), rights);
	if (file)
		atomic_inc(&page->mapcount);
	mm->file_pages += file - old_file;
	mm->resident_pages += !old;
	if (file && !(fault->access & FAULT_WRITE))
		map_around(fault);
	spin_unlock(&mm->page_table_lock);
	if (old && old_file)
		atomic_dec(&old->mapcount);
	if (old)
		put_page(old);
}

/* To write, but not to run (vma_page_rights()); an instruction that writes to its own page, or to
 * the one that it ends in, needs both at once. */
static unsigned write_rights(const struct fault *fault)
{
	u64 begin = current_registers()->ip, end = begin + LONGEST_INSTRUCTION;
	bool own = begin < fault->address + PAGE_SIZE && end > fault->address;

	return MMU_READ | MMU_WRITE | (own ? fault->vma->flags & VM_EXEC : 0);
}

/* @page: what is shown so far, with a reference. */
static int write_private(struct fault *fault, struct page *page)
{
	/* Unless nobody else has it but this entry: with mm->lock held no fork can share it now. */
	if (!test_bit(PG_anon, &page->flags) ||
	    (atomic_read(&page->refcount) != 2 && !swap_reuse(page))) {
		struct page *copy = anonymous_page(fault->vma, 0);

		if (likely(copy)) {
			memcpy(page_address(copy), page_address(page), PAGE_SIZE);
			fault->from = test_bit(PG_anon, &page->flags) ? NULL : page;
			set_entry(fault, copy, write_rights(fault));
		}
		put_page(page);
		return copy ? 0 : -ENOMEM;
	}
	set_entry(fault, page, write_rights(fault));
	return 0;
}

/*
 * The first write to @page of a shared area since it was clean: dirty first, then writable, both
 * under the page lock. Who makes the page clean holds that, too, and takes the right to write away
 * first (mm_protect_page()): so a page that some entry lets a program write to is always dirty.
 */
static int write_shared(struct fault *fault, struct page *page)
{
	struct vma *vma = fault->vma;
	struct address_space *mapping = vma->mapping;
	int error = 0;

	get_page(page);
	lock_page(page);
	/* a file in memory grows by this page: its file system may be full */
	if (page->mapping == mapping && !mapping->ops->writepage &&
	    !test_bit(PG_dirty, &page->flags))
		error = mapping->ops->write_begin(mapping->host, page, 0, 0);
	if (likely(page->mapping == mapping && !error)) {
		set_bit(PG_dirty_all, &page->flags);
		set_page_dirty(page);
		set_entry(fault, page, write_rights(fault));
	} else {
		put_page(page);
	}
	unlock_page(page);
	put_page(page);
	mapped_files->stored(vma->file);
	/* who dirties pages faster than they are written must write himself, as write(2) does */
	if (fault->access & FAULT_USER && mapping->ops->writepage &&
	    unlikely(memory_use_total(MEMORY_DIRTY) > page_alloc_total_pages() / 4)) {
		fault->dirtied = vma->file;
		mapped_files->get(fault->dirtied);
	}
	return error ? -EIO : 0;
}

/* ---- the fault ------------------------------------------------------------------------------- */

/* mm->lock is held for reading; it is let go. */
static noinline int fault_in_area(struct vma *vma, u64 address, unsigned access)
{
	struct fault fault = {.vma = vma, .address = address, .access = access};
	struct address_space *mapping = vma->mapping;
	struct mm *mm = vma->mm;
	struct page *page = NULL;
	int error = 0;

	lockdep_assert_held(&mm->lock);
	spin_lock(&mm->page_table_lock);
	fault.slot = mmu_slot(&mm->mmu, address, MMU_MAKE);
	fault.old = fault.slot ? *fault.slot : 0;
	bool there = fault.old && !pte_is_swap(fault.old);
	if (there && access & FAULT_WRITE && !pte_write(fault.old)) {
		page = phys_to_page(pte_page(fault.old));
		get_page(page);
	} else if (there && access & FAULT_EXEC && !pte_exec(fault.old)) {
		*fault.slot = pte_set_prot(xchg(fault.slot, 0), vma_page_rights(vma));
		mmu_flush(&mm->mmu, address, address + PAGE_SIZE);
	}
	spin_unlock(&mm->page_table_lock);
	if (unlikely(!fault.slot)) {
		error = -ENOMEM;
	} else if (pte_is_swap(fault.old)) {
		error = swap_in(vma, address, fault.old, access);
	} else if (!fault.old && !vma->mapping) {
		error = fault_anonymous(vma, address);
	} else if (!fault.old) {
		page = file_page(&fault);
		error = PTR_ERR_OR_ZERO(page);
	}
	if (page && !error) {
		if (!(access & FAULT_WRITE))
			set_entry(&fault, page, vma_page_rights(vma) & ~(unsigned)MMU_WRITE);
		else if (vma->flags & VM_SHARED)
			error = write_shared(&fault, page);
		else
			error = write_private(&fault, page);
	}
	up_read(&mm->lock);
	/* without mm->lock: writing takes locks of the file system */
	if (unlikely(fault.dirtied)) {
		page_cache_flush(mapping);
		mapped_files->put(fault.dirtied);
	}
	return error;
}

/* An area without one of these rights forbids the access. */
static inline unsigned needed_rights(unsigned access)
{
	if (access & FAULT_WRITE)
		return VM_WRITE;
	if (access & FAULT_EXEC)
		return VM_EXEC;
	return VM_RIGHTS; /* any right lets the machine read; the others stand for themselves */
}

/* No area at @address, page aligned: perhaps one lies above it that grows down. 0: try again. */
static noinline int grow_stack(struct mm *mm, u64 address)
{
	guard(write, &mm->lock);
	struct vma *vma = first_area(mm, address);

	if (!vma)
		return -EFAULT;
	if (address >= vma->start)
		return 0; /* another thread was faster */
	if (!(vma->flags & VM_GROWSDOWN) || address < LOWEST_ADDRESS)
		return -EFAULT;
	if (vma->end - address > current_limit(RLIMIT_STACK) ||
	    may_expand(mm, (vma->start - address) >> PAGE_SHIFT, vma->flags))
		return -EFAULT;
	const struct vma *below = vma->below;
	if (below && !(below->flags & VM_GROWSDOWN) && below->flags & VM_RIGHTS &&
	    address < below->end + STACK_GAP)
		return -EFAULT;
	vma_change(vma, address, vma->end, vma->flags);
	return 0;
}

static int try_fault(struct mm *mm, u64 address, unsigned access)
{
	struct vma *vma;
	int error;

	down_read(&mm->lock);
	vma = find_vma(mm, address);
	address = round_down(address, (u64)PAGE_SIZE);
	if (unlikely(!vma || address < vma->start)) {
		up_read(&mm->lock);
		if (!vma)
			return -EFAULT;
		TRY(grow_stack(mm, address));
		return try_fault(mm, address, access);
	}
	if (unlikely(!(vma->flags & needed_rights(access)))) {
		up_read(&mm->lock);
		return -EACCES;
	}
	if (vma->mapping || access & FAULT_PRESENT || swap_in_use())
		return fault_in_area(vma, address, access);
	error = fault_anonymous(vma, address); /* the most common: no need to look first */
	up_read(&mm->lock);
	return error;
}

/* Somebody's end is to give memory: wait for it a while. false: nobody's will, or it is our own. */
static bool wait_for_victim(void)
{
	/* What the last victim had may just have been given back. What other CPUs keep at hand is
	 * not there for us. */
	u64 at_hand = FRAME_STACK_SIZE * nr_cpus;
	bool is_room = page_alloc_free_pages() >= page_alloc_total_pages() / 64 + at_hand;

	if (!is_room && !swap_may_help() && (!oom_killer || !oom_killer()))
		return false;
	if (fatal_signal_pending(current))
		return false;
	sleep_ns(OOM_PAUSE_NS);
	return true;
}

int mm_fault(struct mm *mm, u64 address, unsigned access)
{
	int error;

	if (unlikely(current->pagefault_disabled))
		return -EFAULT;
	current->minor_faults++;
	error = try_fault(mm, address, access);
	/*
	 * Out of memory: have somebody's end give us some, and wait for it. Not for ever when the
	 * fault is the kernel's own: the lock that the victim needs for its end may be ours.
	 */
	for (unsigned round = 0; unlikely(error == -ENOMEM) && round < OOM_ROUNDS; round++) {
		if (fatal_signal_pending(current))
			break;
		if ((round >= RECLAIM_ROUNDS || !reclaim_pages(1)) && !wait_for_victim())
			break;
		error = try_fault(mm, address, access);
	}
	return error;
}
