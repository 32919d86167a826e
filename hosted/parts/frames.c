/*
 * frames.c - page_alloc.c and slab.c alone, in a process: random allocations against a model of who
 * owns what.
 *
 * Every frame and object is filled with its owner's number and looked at when it is given back, so
 * two owners of one byte are found whatever they do; in the end all must have come back, and the
 * free lists be whole again. Usage: frames [SEED [STEPS]]. Prints "ok"; the debug checks of both
 * files are on.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/memory/page_alloc.c"
#include "core/memory/slab.c"

#include "core/base/string.h"

#define FRAMES 4096 /* 16 MB */
#define OWNERS 3000

char *hosted_memory;
bool hosted_irqs_off;
struct cpu cpus[NR_CPUS];
unsigned nr_cpus = 1;
struct task hosted_task;

static u64 seed;

/* ---- what the two files need
 * ------------------------------------------------------------------------------ */

void panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	exit(2);
}

void assert_failed(const char *what, const char *file, int line, const char *function)
{
	panic("%s:%d: %s: %s", file, line, function, what);
}

void printk(const char *format, ...)
{
	(void)format;
}

void text_printf(struct text *text, const char *format, ...)
{
}

void *boot_alloc(size_t size, size_t align)
{
	return aligned_alloc(align, round_up(size, align));
}

struct lock_class lock_classes[LOCK_CLASSES];

u16 lock_class(const char *name)
{
	(void)name;
	return 1;
}

void spin_lock_wait(spinlock_t *lock, u8 ticket)
{
	panic("a lock is taken twice: %p, %u", (void *)lock, ticket);
}

#ifdef CONFIG_DEBUG
void lockdep_acquire(const void *lock, u16 class, unsigned level, enum lock_wait wait)
{
	(void)lock, (void)class, (void)level, (void)wait;
}

void lockdep_release(const void *lock, u16 class)
{
	(void)lock, (void)class;
}

bool lockdep_is_held(const void *lock)
{
	(void)lock;
	return true;
}
#endif

/* A reserve that reclaim can give, as the page cache would. */
static struct page *reserve[64];
static unsigned reserve_count;

u64 reclaim_pages(u64 pages)
{
	u64 given = 0;

	while (reserve_count && given < pages) {
		put_page(reserve[--reserve_count]);
		given++;
	}
	return given;
}

void shrinker_register(struct shrinker *shrinker)
{
	(void)shrinker;
}

/* ---- the model
 * -----------------------------------------------------------------------------------------------
 */

enum kind { NONE, FRAME, BLOCK, KMALLOC, OBJECT };

static struct owner {
	enum kind kind;
	unsigned order; /* of a block */
	size_t size;	/* bytes that are ours */
	u8 *memory;
} owners[OWNERS];

static struct kmem_cache *test_caches[4];
static const size_t object_sizes[4] = {24, 200, 1000, 3000};

static u64 random_below(u64 n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static void check(bool condition, const char *what)
{
	if (!condition)
		panic("%s", what);
}

static u64 mark_of(const struct owner *owner)
{
	return (u64)(owner - owners) * 0x9e3779b97f4a7c15ULL + 1;
}

static void fill(struct owner *owner)
{
	u64 mark = mark_of(owner);

	for (size_t i = 0; i + 8 <= owner->size; i += 8)
		memcpy(owner->memory + i, &mark, 8);
}

static void verify(const struct owner *owner)
{
	u64 mark = mark_of(owner);

	for (size_t i = 0; i + 8 <= owner->size; i += 8)
		check(!memcmp(owner->memory + i, &mark, 8), "memory has another owner too");
}

static bool all_zero(const u8 *memory, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (memory[i])
			return false;
	return true;
}

static void take_frames_of(struct owner *owner, unsigned gfp, unsigned order)
{
	struct page *page = alloc_pages(gfp, order);

	if (!page)
		return;
	check(!((page - memmap) & ((1 << order) - 1)), "a block is not aligned to its size");
	check(atomic_read(&page->refcount) == (order ? 0 : 1) && page->flags == 0,
	      "a frame in a wrong state");
	owner->kind = order ? BLOCK : FRAME;
	owner->order = order;
	owner->size = PAGE_SIZE << order;
	owner->memory = page_address(page);
}

static void take_object(struct owner *owner, unsigned gfp)
{
	unsigned cache = (unsigned)random_below(4);

	owner->memory = kmem_cache_alloc(test_caches[cache], gfp);
	if (!owner->memory)
		return;
	owner->kind = OBJECT;
	owner->order = cache;
	owner->size = object_sizes[cache];
}

static void take_kmalloc(struct owner *owner, unsigned gfp)
{
	size_t size = random_below(20) ? 1 + random_below(3000) : 1 + random_below(60000);

	owner->memory = kmalloc(size, gfp);
	if (!owner->memory)
		return;
	check(!((uintptr_t)owner->memory & 7), "kmalloc is not aligned");
	check(!is_power_of_2(size) || size < 8 ||
		      !((uintptr_t)((char *)owner->memory - hosted_memory) & (size - 1)),
	      "a power of two is not aligned to itself");
	owner->kind = KMALLOC;
	owner->size = size;
}

static void take(struct owner *owner)
{
	unsigned gfp = (unsigned)random_below(2) * GFP_KERNEL |
		       (unsigned)random_below(2) * GFP_ZERO | GFP_NOWARN;
	u64 what = random_below(10);

	if (what < 5)
		take_frames_of(owner, gfp, 0);
	else if (what < 6)
		take_frames_of(owner, gfp, 1 + (unsigned)random_below(4));
	else if (what < 8)
		take_object(owner, gfp);
	else
		take_kmalloc(owner, gfp);
	if (owner->kind == NONE)
		return;
	check(owner->memory >= (u8 *)hosted_memory &&
		      owner->memory + owner->size <= (u8 *)hosted_memory + FRAMES * PAGE_SIZE,
	      "memory from nowhere");
	check(!(gfp & GFP_ZERO) || all_zero(owner->memory, owner->size),
	      "GFP_ZERO gave something else");
	fill(owner);
}

static void give(struct owner *owner)
{
	verify(owner);
	switch (owner->kind) {
	case FRAME:
		put_page(virt_to_page(owner->memory));
		break;
	case BLOCK:
		__free_pages(virt_to_page(owner->memory), owner->order);
		break;
	case KMALLOC:
		kfree(owner->memory);
		break;
	case OBJECT:
		kmem_cache_free(test_caches[owner->order], owner->memory);
		break;
	case NONE:
		break;
	}
	owner->kind = NONE;
}

/* Runs of frames that leave in one order and come back in another, as mapping and unmapping does.
 */
static void burst(bool backwards)
{
	static struct page *pages[600];
	unsigned count = (unsigned)random_below(600), n = 0;

	while (n < count && (pages[n] = alloc_page(GFP_ATOMIC | GFP_NOWARN)))
		n++;
	for (unsigned i = 0; i < n; i++)
		put_page(pages[backwards ? n - 1 - i : i]);
}

static void run(u64 steps)
{
	for (u64 step = 0; step < steps; step++) {
		struct owner *owner = &owners[random_below(OWNERS)];

		if (random_below(200) == 0)
			burst(random_below(2));
		if (owner->kind != NONE)
			give(owner);
		else
			take(owner);
	}
}

/* ---- the end: everything has come back
 * -------------------------------------------------------------------------- */

static u64 walk_blocks(void)
{
	u64 frames = 0;

	for (unsigned order = 0; order < MAX_ORDER; order++) {
		struct page *page;

		list_for_each_entry (page, &buddy.blocks[order], buddy_list) {
			u64 frame = (u64)(page - memmap);
			const struct page *other = &memmap[frame ^ (1u << order)];

			check(page->flags == BIT(PG_buddy) && page->buddy_order == order,
			      "a free block in a wrong state");
			check(!(frame & ((1u << order) - 1)), "a free block is not aligned");
			check(order == MAX_ORDER - 1 || !(other->flags & BIT(PG_buddy)) ||
				      other->buddy_order != order,
			      "two free buddies were not joined");
			frames += 1u << order;
		}
	}
	check(frames == buddy.free, "the count of free frames is wrong");
	return frames;
}

static void give_all_back(u64 free_before)
{
	for (unsigned i = 0; i < OWNERS; i++)
		if (owners[i].kind != NONE)
			give(&owners[i]);
	slab_shrink();
	for (unsigned i = 0; i < 4; i++)
		check(!test_caches[i]->out && !test_caches[i]->slabs, "objects were lost");
	check(memory_use_total(MEMORY_SLAB) + walk_blocks() + frame_stacks[0].count +
			      reserve_count ==
		      free_before,
	      "frames were lost");
}

static void take_everything(void)
{
	u64 taken = 0;
	void *list = NULL, *block;
	struct page *page;

	while ((page = alloc_page(GFP_ATOMIC | GFP_NOWARN))) {
		block = page_address(page);
		*(void **)block = list;
		list = block;
		taken++;
	}
	check(taken > FRAMES / 2 && buddy.free == 0 && !kmalloc(60000, GFP_KERNEL | GFP_NOWARN),
	      "memory does not end");
	for (; list; list = block) {
		block = *(void **)list;
		put_page(virt_to_page(list));
	}
	walk_blocks();
}

int main(int argc, char **argv)
{
	u64 steps = argc > 2 ? strtoull(argv[2], NULL, 0) : 200000, before;

	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	hosted_memory = mmap(NULL, FRAMES * PAGE_SIZE + PAGE_SIZE * 1024, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hosted_memory = (char *)round_up((uintptr_t)hosted_memory, PAGE_SIZE * 1024);
	page_alloc_init(FRAMES * PAGE_SIZE);
	page_alloc_add_range(PAGE_SIZE * 3, PAGE_SIZE * 1000 + 17); /* with a hole */
	page_alloc_add_range(PAGE_SIZE * 1003, FRAMES * PAGE_SIZE);
	check(buddy.total == 1000 - 3 + FRAMES - 1003 && walk_blocks() == buddy.total,
	      "not all memory was added");
	page_alloc_hold(1);
	check(buddy.free == buddy.total, "a frame that is none was held");
	for (unsigned i = 0; i < 20; i++)
		page_alloc_hold(7 + i / 2 * 31); /* each twice */
	check(walk_blocks() == buddy.total - 10, "not just the frames that were free are held");
	slab_init();
	before = buddy.free + memory_use_total(MEMORY_SLAB) + frame_stacks[0].count;
	for (unsigned i = 0; i < 4; i++)
		test_caches[i] =
			kmem_cache_create("test", object_sizes[i], i & 1 ? 64 : 8, 0);
	while (reserve_count < ARRAY_SIZE(reserve))
		reserve[reserve_count++] = alloc_page(GFP_KERNEL);
	run(steps);
	walk_blocks();
	give_all_back(before);
	take_everything();
	printf("ok\n");
	return 0;
}
