/*
 * page_alloc.c - page frames: buddy lists of blocks of 1, 2, 4 ... 1 << (MAX_ORDER - 1) frames, and
 * on each CPU a stack of single frames that most allocations and frees touch alone.
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
#include "core/memory/page_alloc.h"

#include <arch/boot.h>

#include "core/memory/shrinker.h"

#define STACK_BATCH 32

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
	struct page *frames[FRAME_STACK_SIZE];
} __aligned(64) frame_stacks[NR_CPUS];

/* ---- buddy lists; the lock is held ----------------------------------------------------------- */

static void block_add(struct page *page, unsigned order)
{
	lockdep_assert_held(&buddy.lock);
	page->flags = BIT(PG_buddy);
	page->buddy_order = order;
	list_add(&page->buddy_list, &buddy.blocks[order]);
}

static void block_remove(struct page *page)
{
	lockdep_assert_held(&buddy.lock);
	list_del(&page->buddy_list);
	page->flags = 0;
}

static struct page *block_take(unsigned order)
{
	struct page *page;
	unsigned from = order;

	lockdep_assert_held(&buddy.lock);
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

	lockdep_assert_held(&buddy.lock);
	buddy.free += 1u << order;
	while (order < MAX_ORDER - 1) {
		u64 other = frame ^ (1u << order);

		/* of one in use other flags may change now; this one under the lock alone */
		if (other >= memmap_pages || !(data_race(memmap[other].flags) & BIT(PG_buddy)) ||
		    memmap[other].buddy_order != order)
			break;
		block_remove(&memmap[other]);
		frame &= other;
		order++;
	}
	block_add(&memmap[frame], order);
}

/* ---- allocation ------------------------------------------------------------------------------ */

/*
 * Fill @pages with up to @count blocks of @order without going below @reserve; how many. Several at
 * a time come from the smallest block there is, since taking them singly would use it up as well.
 */
static unsigned take_blocks(struct page **pages, unsigned count, unsigned order, u64 reserve)
{
	unsigned taken = 0;

	guard(spinlock_irqsave, &buddy.lock);
	while (taken < count && buddy.free >= reserve + (1u << order)) {
		u64 most = min((u64)(count - taken), (buddy.free - reserve) >> order);
		unsigned last = order + ilog2(most), from = order;
		struct page *page;

		while (from < last && list_empty(&buddy.blocks[from]))
			from++;
		page = block_take(from);
		if (!page)
			break;
		for (unsigned i = 0; i < 1u << (from - order); i++)
			pages[taken++] = page + (i << order);
	}
	return taken;
}

/* The same, reclaiming while there are none above the watermark, and as long as that frees some,
 * which others may be quicker to take. 0: out of memory. */
static unsigned take_blocks_reclaim(struct page **pages, unsigned count, unsigned order,
				    unsigned gfp)
{
	const u64 reserves[] = {buddy.low, buddy.min, buddy.min, buddy.min / 4};

	if (!(gfp & GFP_KERNEL) || current->in_reclaim)
		return take_blocks(pages, count, order, 0);
	for (u64 round = 0, freed = 1; round < 4 || (freed && round < 64); round++) {
		unsigned taken = take_blocks(pages, count, order, reserves[min(round, 3ULL)]);

		if (taken)
			return taken;
		freed = reclaim_pages(max(STACK_BATCH * 2u, 1u << order));
	}
	if (!(gfp & GFP_NOWARN))
		pr_warn_once("out of memory: %llu of %llu frames free, order %u wanted\n",
			     buddy.free, buddy.total, order);
	return 0;
}

/* This CPU's stack was empty: try again with a batch on it. */
static noinline struct page *alloc_page_slow(unsigned gfp)
{
	struct page *batch[STACK_BATCH];
	unsigned taken = take_blocks_reclaim(batch, STACK_BATCH, 0, gfp);

	for (unsigned i = taken; i > 0; i--)
		free_single_page(batch[i - 1]);
	return taken ? alloc_page(gfp) : NULL;
}

struct page *alloc_page(unsigned gfp)
{
	unsigned long flags = arch_irq_save();
	struct frame_stack *stack = &frame_stacks[cpu_id()];

	if (unlikely(!stack->count)) {
		arch_irq_restore(flags);
		return alloc_page_slow(gfp);
	}
	struct page *page = stack->frames[--stack->count];
	arch_irq_restore(flags);
	ASSERT(atomic_read(&page->refcount) == 0);
	page->flags = 0;
	atomic_set(&page->mapcount, 0);
	/* last: reclaim takes a reference to what has one, and then looks at the flags */
	smp_store_release(&page->refcount.counter, 1);
	if (gfp & GFP_ZERO)
		memset(page_address(page), 0, PAGE_SIZE);
	return page;
}

struct page *alloc_pages(unsigned gfp, unsigned order)
{
	struct page *page;

	if (order == 0)
		return alloc_page(gfp);
	if (order >= MAX_ORDER || !take_blocks_reclaim(&page, 1, order, gfp))
		return NULL;
	if (gfp & GFP_ZERO)
		memset(page_address(page), 0, PAGE_SIZE << order);
	return page;
}

/* ---- freeing --------------------------------------------------------------------------------- */

/* The stack is full: give half of it back. Interrupts are off: @flags to restore. */
static noinline void spill_stack(struct frame_stack *stack, unsigned long flags)
{
	spin_lock(&buddy.lock);
	while (stack->count > STACK_BATCH)
		block_give(stack->frames[--stack->count], 0);
	spin_unlock_irqrestore(&buddy.lock, flags);
}

void free_single_page(struct page *page)
{
	unsigned long flags;
	struct frame_stack *stack;

	ASSERT(!(page->flags & (BIT(PG_cache) | BIT(PG_buddy) | BIT(PG_locked))));
	ASSERT(atomic_read(&page->mapcount) == 0);
	flags = arch_irq_save();
	if (page->flags & BIT(PG_anon))
		memory_use_add(MEMORY_ANON, -1);
	stack = &frame_stacks[cpu_id()];
	page->flags = 0;
	stack->frames[stack->count] = page;
	if (unlikely(++stack->count == FRAME_STACK_SIZE))
		spill_stack(stack, flags);
	else
		arch_irq_restore(flags);
}

void __free_pages(struct page *page, unsigned order)
{
	if (order == 0) {
		put_page(page);
		return;
	}
	ASSERT(!((page - memmap) & ((1 << order) - 1)));
	for (unsigned i = 0; i < 1u << order; i++)
		page[i].flags = 0;
	guard(spinlock_irqsave, &buddy.lock);
	block_give(page, order);
}

/* ---- what there is --------------------------------------------------------------------------- */

u64 page_alloc_free_pages(void)
{
	u64 free = READ_ONCE(buddy.free);

	for (unsigned i = 0; i < NR_CPUS; i++)
		free += READ_ONCE(frame_stacks[i].count);
	return free;
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

	guard(spinlock_irqsave, &buddy.lock);
	if (frame < last)
		buddy.total += last - frame;
	while (frame < last) {
		unsigned aligned = __ffs(frame | BIT(MAX_ORDER - 1));
		unsigned order = min(aligned, ilog2(last - frame));

		block_give(&memmap[frame], order);
		frame += 1u << order;
	}
	buddy.min = int_sqrt(16 * buddy.total * (PAGE_SIZE / 1024)) / (PAGE_SIZE / 1024);
	buddy.low = buddy.min + buddy.min / 4;
}

void page_alloc_hold(u64 frame)
{
	guard(spinlock_irqsave, &buddy.lock);
	for (unsigned order = 0; order < MAX_ORDER; order++) {
		struct page *block = &memmap[frame >> order << order];

		if (!(block->flags & BIT(PG_buddy)) || block->buddy_order != order)
			continue;
		block_remove(block);
		buddy.free--;
		while (order-- > 0)
			block_add(&memmap[(frame >> order ^ 1) << order], order);
		return;
	}
}

void *hash_alloc_table(u64 bytes)
{
	u64 frames = DIV_ROUND_UP(bytes, PAGE_SIZE);

	/* A table must leave memory to work with. */
	if (frames > buddy.free / 4)
		return NULL;
	struct page *page = alloc_pages(GFP_KERNEL | GFP_ZERO | GFP_NOWARN, fls64(frames - 1));
	return page ? page_address(page) : NULL;
}
