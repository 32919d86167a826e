/*
 * page_alloc.c - page frames: buddy lists of blocks of 1, 2, 4 ... 1024 frames, and on each CPU a
 * stack of single frames that most allocations and frees touch alone.
 *
 * States of a frame: on a CPU's stack (flags and refcount 0) -> allocated -> back; or part of a
 * free block, whose first frame has PG_buddy, its order, and is on the list of that order. A block
 * is free together with its buddy (the block whose number differs in one bit) never for long: the
 * two are joined.
 *
 * Watermarks, in frames: min = sqrt(16 * KB of memory) KB as in Linux; low = 1.25 min. Refilling a
 * CPU's stack looks at them, so that a single allocation does not.
 *
 * Lock: buddy.lock, with interrupts off, innermost of all.
 */
#include "mm/page_alloc.h"

#include <arch/boot.h>
#include <arch/cpu.h>

#include "kernel/core/bitops.h"
#include "kernel/core/printk.h"
#include "kernel/core/spinlock.h"
#include "kernel/core/task.h"

#define STACK_SIZE 64
#define STACK_BATCH 32
#define RECLAIM_ROUNDS 4

struct page *memmap;
u64 memmap_pages;
struct memory_use_counts memory_use_counts[NR_CPUS];

static struct {
	spinlock_t lock;
	struct list_head blocks[MAX_ORDER];
	u64 free; /* frames on the lists */
	u64 total, min, low;
} buddy;

static struct frame_stack {
	unsigned count;
	struct page *frames[STACK_SIZE];
} __aligned(64) frame_stacks[NR_CPUS];

/* ---- buddy lists; the lock is held ----------------------------------------------------------- */

static void block_add(struct page *page, unsigned order)
{
	page->flags = BIT(PG_buddy);
	page->buddy_order = order;
	list_add(&page->buddy_list, &buddy.blocks[order]);
}

static void block_remove(struct page *page)
{
	list_del(&page->buddy_list);
	page->flags = 0;
}

static struct page *block_take(unsigned order)
{
	struct page *page;
	unsigned from = order;

	while (from < MAX_ORDER && list_empty(&buddy.blocks[from]))
		from++;
	if (from == MAX_ORDER)
		return NULL;
	page = list_first_entry(&buddy.blocks[from], struct page, buddy_list);
	block_remove(page);
	while (from > order) {
		from--;
		block_add(page + (1u << from), from);
	}
	buddy.free -= 1u << order;
	return page;
}

static void block_give(struct page *page, unsigned order)
{
	u64 frame = (u64)(page - memmap);

	buddy.free += 1u << order;
	while (order < MAX_ORDER - 1) {
		u64 other = frame ^ (1u << order);

		if (other >= memmap_pages || !(memmap[other].flags & BIT(PG_buddy)) ||
		    memmap[other].buddy_order != order)
			break;
		block_remove(&memmap[other]);
		frame &= other;
		order++;
	}
	block_add(&memmap[frame], order);
}

/* ---- allocation ------------------------------------------------------------------------------ */

/* How many frames must stay free after this allocation. */
static u64 reserve_for(unsigned gfp, unsigned round)
{
	if (!(gfp & GFP_KERNEL) || current->in_reclaim)
		return 0;
	return round == 0 ? buddy.low : round < RECLAIM_ROUNDS - 1 ? buddy.min : buddy.min / 4;
}

/* The order of the block to take next when @count frames are wanted one by one: at most what the
 * smallest free block has, since taking its frames singly would use it up as well. */
static unsigned single_frames_order(unsigned count, u64 reserve)
{
	unsigned order = 0, most = ilog2(count);

	while (order < most && list_empty(&buddy.blocks[order]))
		order++;
	return buddy.free >= reserve + (1u << order) ? order : 0;
}

/* Fill @pages with up to @count single frames without going below @reserve; how many. */
static unsigned take_frames(struct page **pages, unsigned count, u64 reserve)
{
	unsigned taken = 0;
	unsigned long flags;

	spin_lock_irqsave(&buddy.lock, flags);
	while (taken < count && buddy.free > reserve) {
		unsigned order = single_frames_order(count - taken, reserve);
		struct page *page = block_take(order);

		for (unsigned i = 0; i < 1u << order; i++)
			pages[taken++] = page++;
	}
	spin_unlock_irqrestore(&buddy.lock, flags);
	return taken;
}

/* A block without going below @reserve; how many, 0 or 1. */
static unsigned take_block(struct page **page, unsigned order, u64 reserve)
{
	unsigned long flags;

	*page = NULL;
	spin_lock_irqsave(&buddy.lock, flags);
	if (buddy.free >= reserve + (1u << order))
		*page = block_take(order);
	spin_unlock_irqrestore(&buddy.lock, flags);
	return *page != NULL;
}

/* Take @count frames, or one block of a higher order, reclaiming while there are none above the
 * watermark. How many were taken; 0: out of memory. */
static unsigned take_blocks_reclaim(struct page **pages, unsigned count, unsigned order,
				    unsigned gfp)
{
	for (unsigned round = 0; round < RECLAIM_ROUNDS; round++) {
		u64 reserve = reserve_for(gfp, round);
		unsigned taken = order ? take_block(pages, order, reserve)
				       : take_frames(pages, count, reserve);

		if (taken)
			return taken;
		if (!(gfp & GFP_KERNEL) || current->in_reclaim)
			break;
		reclaim_pages(max(STACK_BATCH * 2u, 1u << order), gfp);
	}
	if (!(gfp & GFP_NOWARN))
		pr_warn_once("out of memory: %llu of %llu frames free, order %u wanted\n",
			     (unsigned long long)buddy.free, (unsigned long long)buddy.total,
			     order);
	return 0;
}

/* The frame @page as its new owner gets it. */
static __always_inline struct page *prepare_page(struct page *page, unsigned gfp)
{
	ASSERT(atomic_read(&page->refcount) == 0);
	page->flags = 0;
	atomic_set(&page->mapcount, 0);
	atomic_set(&page->refcount, 1);
	if (gfp & GFP_ZERO)
		clear_page(page_address(page));
	return page;
}

static noinline struct page *alloc_page_slow(unsigned gfp)
{
	struct page *batch[STACK_BATCH];
	unsigned taken = take_blocks_reclaim(batch, STACK_BATCH, 0, gfp);
	unsigned kept = 0;
	struct frame_stack *stack;
	unsigned long flags;

	if (!taken)
		return NULL;
	/* Reclaim may have slept: this may be another CPU, whose stack is not empty. */
	flags = arch_irq_save();
	stack = &frame_stacks[cpu_id()];
	while (taken - kept > 1 && stack->count < STACK_SIZE)
		stack->frames[stack->count++] = batch[taken - ++kept];
	arch_irq_restore(flags);
	while (taken - kept > 1) {
		spin_lock_irqsave(&buddy.lock, flags);
		block_give(batch[taken - ++kept], 0);
		spin_unlock_irqrestore(&buddy.lock, flags);
	}
	return prepare_page(batch[0], gfp);
}

struct page *alloc_page(unsigned gfp)
{
	unsigned long flags = arch_irq_save();
	struct frame_stack *stack = &frame_stacks[cpu_id()];
	struct page *page;

	if (unlikely(!stack->count)) {
		arch_irq_restore(flags);
		return alloc_page_slow(gfp);
	}
	page = stack->frames[--stack->count];
	arch_irq_restore(flags);
	return prepare_page(page, gfp);
}

struct page *alloc_pages(unsigned gfp, unsigned order)
{
	struct page *page;

	if (order == 0)
		return alloc_page(gfp);
	if (order >= MAX_ORDER || !take_blocks_reclaim(&page, 1, order, gfp))
		return NULL;
	for (unsigned i = 0; i < 1u << order; i++)
		page[i].flags = 0;
	if (gfp & GFP_ZERO)
		memset(page_address(page), 0, PAGE_SIZE << order);
	return page;
}

/* ---- freeing --------------------------------------------------------------------------------- */

/* The largest aligned block that begins with frames[0] and goes on through the next ones, at most
 * @count. */
static unsigned run_order(struct page *const *frames, unsigned count)
{
	u64 frame = (u64)(frames[0] - memmap);
	unsigned order = 0, i = 1;

	while (2u << order <= count && !(frame & ((2u << order) - 1))) {
		for (; i < 2u << order; i++)
			if (frames[i] != frames[0] + i)
				return order;
		order++;
	}
	return order;
}

/* The stack is full: give its older half back, then put @page on it. Interrupts are off: @flags to
 * restore. */
static noinline void free_page_slow(struct page *page, struct frame_stack *stack,
				    unsigned long flags)
{
	spin_lock(&buddy.lock);
	for (unsigned i = 0, order; i < STACK_BATCH; i += 1u << order) {
		order = run_order(stack->frames + i, STACK_BATCH - i);
		block_give(stack->frames[i], order);
	}
	spin_unlock(&buddy.lock);
	stack->count -= STACK_BATCH;
	memmove(stack->frames, stack->frames + STACK_BATCH,
		stack->count * sizeof(stack->frames[0]));
	page->flags = 0;
	stack->frames[stack->count++] = page;
	arch_irq_restore(flags);
}

void free_single_page(struct page *page)
{
	unsigned long flags;
	struct frame_stack *stack;
	unsigned cpu, count;

	ASSERT(!(page->flags &
		 (BIT(PG_cache) | BIT(PG_buddy) | BIT(PG_locked) | BIT(PG_writeback))));
	ASSERT(atomic_read(&page->mapcount) == 0);
	flags = arch_irq_save();
	cpu = cpu_id();
	if (page->flags & BIT(PG_anon))
		memory_use_counts[cpu].pages[MEMORY_ANON]--;
	stack = &frame_stacks[cpu];
	count = stack->count;
	if (unlikely(count == STACK_SIZE)) {
		free_page_slow(page, stack, flags);
		return;
	}
	page->flags = 0;
	stack->frames[count] = page;
	stack->count = count + 1;
	arch_irq_restore(flags);
}

void __free_pages(struct page *page, unsigned order)
{
	unsigned long flags;

	if (order == 0) {
		put_page(page);
		return;
	}
	ASSERT(!((page - memmap) & ((1 << order) - 1)));
	for (unsigned i = 0; i < 1u << order; i++)
		page[i].flags = 0;
	spin_lock_irqsave(&buddy.lock, flags);
	block_give(page, order);
	spin_unlock_irqrestore(&buddy.lock, flags);
}

void *get_free_pages(unsigned gfp, unsigned order)
{
	struct page *page = alloc_pages(gfp, order);

	return page ? page_address(page) : NULL;
}

void free_pages(void *address, unsigned order)
{
	if (address)
		__free_pages(virt_to_page(address), order);
}

/* ---- what there is --------------------------------------------------------------------------- */

u64 page_alloc_free_pages(void)
{
	return READ_ONCE(buddy.free);
}

u64 page_alloc_total_pages(void)
{
	return buddy.total;
}

u64 memory_use_total(enum memory_use use)
{
	s64 sum = 0;

	for (unsigned i = 0; i < NR_CPUS; i++)
		sum += READ_ONCE(memory_use_counts[i].pages[use]);
	return sum > 0 ? (u64)sum : 0;
}

void memory_info(struct memory_info *info)
{
	info->total_pages = buddy.total;
	info->free_pages = page_alloc_free_pages();
	for (unsigned i = 0; i < NR_CPUS; i++)
		info->free_pages += READ_ONCE(frame_stacks[i].count);
	info->cached_pages = memory_use_total(MEMORY_CACHED);
	info->buffer_pages = memory_use_total(MEMORY_BUFFER);
	info->dirty_pages = memory_use_total(MEMORY_DIRTY);
	info->anon_pages = memory_use_total(MEMORY_ANON);
	info->mapped_pages = memory_use_total(MEMORY_MAPPED);
	info->shmem_pages = memory_use_total(MEMORY_SHMEM);
	info->slab_pages = memory_use_total(MEMORY_SLAB);
	info->reclaimable_slab_pages = memory_use_total(MEMORY_SLAB_RECLAIMABLE);
	info->page_table_pages = memory_use_total(MEMORY_PAGE_TABLES);
	info->kernel_stack_pages = memory_use_total(MEMORY_KERNEL_STACKS);
}

/* ---- boot ------------------------------------------------------------------------------------ */

void page_alloc_init(phys_addr_t end)
{
	spin_lock_init(&buddy.lock, "buddy.lock");
	for (unsigned order = 0; order < MAX_ORDER; order++)
		INIT_LIST_HEAD(&buddy.blocks[order]);
	memmap_pages = DIV_ROUND_UP(end, PAGE_SIZE);
	memmap = boot_alloc(memmap_pages * sizeof(struct page), 64);
	memset(memmap, 0, memmap_pages * sizeof(struct page));
}

void page_alloc_add_range(phys_addr_t start, phys_addr_t end)
{
	u64 frame = DIV_ROUND_UP(start, PAGE_SIZE);
	u64 last = min(end / PAGE_SIZE, memmap_pages);
	unsigned long flags;

	spin_lock_irqsave(&buddy.lock, flags);
	if (frame < last)
		buddy.total += last - frame;
	while (frame < last) {
		unsigned order = frame ? __ffs(frame) : MAX_ORDER - 1;

		order = min(order, MAX_ORDER - 1u);
		while (frame + (1u << order) > last)
			order--;
		block_give(&memmap[frame], order);
		frame += 1u << order;
	}
	buddy.min = int_sqrt(16 * buddy.total * (PAGE_SIZE / 1024)) / (PAGE_SIZE / 1024);
	buddy.low = buddy.min + buddy.min / 4;
	spin_unlock_irqrestore(&buddy.lock, flags);
}

/* The first of @count free largest blocks that lie one after another; NULL. The lock is held. */
static struct page *find_adjacent_blocks(u64 count)
{
	const u64 step = 1u << (MAX_ORDER - 1);
	u64 found = 0;

	for (u64 frame = 0; frame + step <= memmap_pages; frame += step) {
		struct page *page = &memmap[frame];

		if (!(page->flags & BIT(PG_buddy)) || page->buddy_order != MAX_ORDER - 1)
			found = 0;
		else if (++found == count)
			return &memmap[frame - (count - 1) * step];
	}
	return NULL;
}

static struct page *take_adjacent_blocks(u64 count)
{
	struct page *page;
	unsigned long flags;

	spin_lock_irqsave(&buddy.lock, flags);
	page = find_adjacent_blocks(count);
	for (u64 i = 0; page && i < count; i++)
		block_remove(page + (i << (MAX_ORDER - 1)));
	if (page)
		buddy.free -= count << (MAX_ORDER - 1);
	spin_unlock_irqrestore(&buddy.lock, flags);
	return page;
}

void *hash_alloc_table(u64 bytes)
{
	u64 frames = DIV_ROUND_UP(bytes, PAGE_SIZE);
	unsigned order = frames > 1 ? fls64(frames - 1) : 0;
	struct page *page;

	/* A table must leave memory to work with. */
	if (frames > buddy.free / 4)
		return NULL;
	if (order < MAX_ORDER)
		return get_free_pages(GFP_KERNEL | GFP_ZERO | GFP_NOWARN, order);
	page = take_adjacent_blocks(DIV_ROUND_UP(frames, 1u << (MAX_ORDER - 1)));
	if (page)
		memset(page_address(page), 0, frames * PAGE_SIZE);
	return page ? page_address(page) : NULL;
}
