/*
 * memory.c - interleavings: frames and objects out of one arena at a fixed address, so that a seed
 * gives the same addresses, and the same buckets, every time.
 *
 * A free frame is given out again at once, as by the kernel's stacks of free frames; a free object
 * only after many others, so that who still uses it is caught: each access is looked up here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hash/cache.h"
#include "core/log/assert.h"
#include "core/base/bitops.h"
#include "core/memory/page_alloc.h"
#include "core/memory/shrinker.h"
#include "core/memory/slab.h"
#include "hosted/interleave/ring/ring.h"
#include "hosted/machine/shared/in_use.h"

#define UNIT 16 /* bytes; objects begin at a multiple */
#define UNITS (ARENA_BYTES / UNIT)
#define CLASSES 24   /* free lists, of sizes 64 << n/2 */
#define KEPT_BACK 24 /* free objects of a class that are not given out */
#define FRAMES_MAX 1024
#define TABLE_BITS 4 /* few buckets, so that chains are shared */

struct object {
	uintptr_t start;
	size_t size, room;
	const char *name;
	bool live;
	struct ring_clock freed;
	struct object *next; /* of the free ones, or the next made */
};

char *hosted_memory;
struct page *memmap;
u64 memmap_pages;
unsigned ring_frames = 32;

static char *arena, *arena_free;
static struct object **object_at; /* of each unit; NULL: none */
static struct object frames[FRAMES_MAX];
static u64 free_frames[FRAMES_MAX], free_frame_count;

/* ---- the arena --------------------------------------------------------------------------------
 */

static void arena_make(void)
{
	if (arena)
		return;
	arena = mmap((void *)ARENA_BASE, ARENA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	BUG_ON(arena != (char *)ARENA_BASE);
	arena_free = arena;
	object_at = mmap(NULL, UNITS * sizeof(*object_at), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	BUG_ON(object_at == MAP_FAILED);
}

void *arena_take(size_t bytes, size_t align)
{
	char *start;

	arena_make();
	start = (char *)round_up((uintptr_t)arena_free, align);
	arena_free = start + bytes;
	if (arena_free > arena + ARENA_BYTES)
		ring_fail("the arena is full");
	return start;
}

static struct object *find_object(uintptr_t address)
{
	return address - ARENA_BASE < ARENA_BYTES ? object_at[(address - ARENA_BASE) / UNIT] : NULL;
}

const char *memory_wrong(uintptr_t address)
{
	const struct object *object = find_object(address);

	if (!object)
		return NULL;
	if (!object->live)
		return "use of what is free";
	return address >= object->start + object->size ? "access behind the end" : NULL;
}

uintptr_t memory_granule(uintptr_t address)
{
	uintptr_t in_memmap = address - (uintptr_t)memmap;

	if (in_memmap < memmap_pages * sizeof(struct page))
		return 1 + in_memmap / sizeof(struct page); /* below all others */
	return KB(64) + ring_place(address) / 64;
}

void memory_describe(uintptr_t address, char *text, size_t size)
{
	const struct object *object = find_object(address);
	const char *page = (const char *)address;

	if (object)
		snprintf(text, size, "byte %zu of %s", (size_t)(address - object->start),
			 object->name);
	else if (page >= (char *)memmap && page < (char *)(memmap + memmap_pages))
		snprintf(text, size, "byte %zu of struct page of frame %zu",
			 (size_t)(page - (char *)memmap) % sizeof(struct page),
			 (size_t)(page - (char *)memmap) / sizeof(struct page));
	else if (address - ARENA_BASE < ARENA_BYTES)
		snprintf(text, size, "a task's stack, or a table");
	else
		snprintf(text, size, "static data at %#lx", (unsigned long)ring_place(address));
}

/* It is the running task's from now on; what was done to it before it was freed comes before. */
static void object_begins(struct object *object)
{
	stores_seen();
	object->live = true;
	races_join(&running->clock, &object->freed);
	if (ring_active)
		races_forget(object->start, object->room);
}

static void object_ends(struct object *object)
{
	stores_seen();
	if (!object->live)
		ring_fail("freed twice: %s", object->name);
	if (ring_active) {
		races_access(object->start, object->size, RING_FREE, running->last_pc);
		races_publish(&object->freed);
	}
	object->live = false;
}

/* ---- frames -----------------------------------------------------------------------------------
 */

void page_alloc_init(phys_addr_t end)
{
	(void)end; /* so few that they are used again soon */
	memmap_pages = ring_frames;
	BUG_ON(memmap_pages > FRAMES_MAX);
	memmap = arena_take(memmap_pages * sizeof(*memmap), 64);
	hosted_memory = arena_take(memmap_pages << PAGE_SHIFT, PAGE_SIZE);
	for (u64 i = memmap_pages; i--;) {
		frames[i] = (struct object){.start = (uintptr_t)hosted_memory + (i << PAGE_SHIFT),
					    .size = PAGE_SIZE,
					    .room = PAGE_SIZE,
					    .name = "a frame"};
		for (u64 unit = 0; unit < PAGE_SIZE; unit += UNIT)
			object_at[(frames[i].start + unit - ARENA_BASE) / UNIT] = &frames[i];
		free_frames[free_frame_count++] = i;
	}
}

/* As the kernel's does: the frame's own fields are set while reclaim may look at them. */
static void begin_page(struct page *page)
{
	if (ring_active)
		ring_point((uintptr_t)&page->flags, RING_MARKED_WRITE, running->last_pc);
	page->flags = 0;
	if (ring_active)
		ring_point((uintptr_t)&page->refcount, RING_MARKED_WRITE, running->last_pc);
	page->refcount.counter = 1;
}

struct page *alloc_page(unsigned gfp)
{
	struct page *page;
	u64 frame;

	if (allocation_fails())
		return NULL;
	if (!free_frame_count && (gfp & GFP_KERNEL))
		reclaim_pages(8);
	if (!free_frame_count)
		return NULL;
	frame = free_frames[--free_frame_count];
	page = &memmap[frame];
	BUG_ON(page->refcount.counter != 0);
	object_begins(&frames[frame]);
	memset(page_address(page), gfp & GFP_ZERO ? 0 : 0xa5, PAGE_SIZE);
	hosted_pages_in_use++;
	begin_page(page);
	return page;
}

void free_single_page(struct page *page)
{
	if (page->flags & (BIT(PG_cache) | BIT(PG_locked)))
		ring_fail("a frame is freed that is in the page cache, or locked");
	if (page->mapcount.counter)
		ring_fail("a frame is freed that is mapped");
	mmu_frame_freed(page_to_phys(page));
	if (page->flags & BIT(PG_anon))
		memory_use_counts[ring_cpu_id()].pages[MEMORY_ANON]--;
	page->flags = 0;
	object_ends(&frames[page - memmap]);
	memset(page_address(page), 0x6b, PAGE_SIZE);
	free_frames[free_frame_count++] = (u64)(page - memmap);
	hosted_pages_in_use--;
}

u64 page_alloc_free_pages(void)
{
	return free_frame_count;
}

u64 page_alloc_total_pages(void)
{
	return memmap_pages;
}

/* ---- tables -----------------------------------------------------------------------------------
 */

void *hash_alloc_table(u64 bytes)
{
	return arena_take(bytes, 64);
}

void *hash_cache_create(struct hash_cache *cache, size_t entry_bytes)
{
	cache->bits = TABLE_BITS;
	cache->entries = 1u << TABLE_BITS;
	cache->bytes = cache->entries * entry_bytes;
	cache->rule = "hosted";
	return arena_take(cache->bytes, 64);
}

/* ---- objects ----------------------------------------------------------------------------------
 */

static struct free_list {
	struct object *first, **end;
	unsigned count;
} free_lists[CLASSES];

static size_t class_size(unsigned n)
{
	return (size_t)(n & 1 ? 96 : 64) << n / 2;
}

static struct object *make_object(unsigned n)
{
	struct object *object = calloc(1, sizeof(*object));

	object->room = class_size(n);
	object->start = (uintptr_t)arena_take(object->room, 64);
	for (size_t unit = 0; unit < object->room; unit += UNIT)
		object_at[(object->start + unit - ARENA_BASE) / UNIT] = object;
	return object;
}

static void *object_alloc(size_t size, const char *name, unsigned gfp)
{
	struct free_list *list;
	struct object *object;
	unsigned n = 0;

	while (class_size(n) < size)
		BUG_ON(++n == CLASSES);
	list = &free_lists[n];
	if (list->count > KEPT_BACK) {
		object = list->first;
		list->first = object->next;
		list->count--;
	} else {
		object = make_object(n);
	}
	object->size = size;
	object->name = name;
	object_begins(object);
	memset((void *)object->start, gfp & GFP_ZERO ? 0 : 0x6b, size);
	hosted_objects_in_use++;
	return (void *)object->start;
}

static void object_free(void *address)
{
	struct object *object = find_object((uintptr_t)address);
	struct free_list *list;
	unsigned n = 0;

	BUG_ON(!object || object->start != (uintptr_t)address);
	object_ends(object);
	memset(address, 0x6b, object->size);
	while (class_size(n) < object->room)
		n++;
	list = &free_lists[n];
	object->next = NULL;
	if (list->count++)
		*list->end = object;
	else
		list->first = object;
	list->end = &object->next;
	hosted_objects_in_use--;
}

void *kmem_cache_alloc(struct kmem_cache *cache, unsigned gfp)
{
	if (allocation_fails())
		return NULL;
	cache->objects++;
	return object_alloc(cache->size, cache->name, gfp);
}

void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	cache->objects--;
	object_free(object);
}

void *kmalloc(size_t size, unsigned gfp)
{
	if (size > MB(1) || allocation_fails())
		return NULL;
	return object_alloc(max(size, (size_t)1), "memory of kmalloc()", gfp);
}

void kfree(const void *object)
{
	if (object)
		object_free((void *)object);
}
