/*
 * memory.c - hosted: frames from one arena, slabs from malloc, so that the address sanitizer sees
 * every object's bounds and lifetime. Free frames are poisoned.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hash/cache.h"
#include "hosted/machine/hosted.h"
#include "hosted/machine/shared/in_use.h"
#include "core/log/assert.h"
#include "core/base/bitops.h"
#include "core/memory/page_alloc.h"
#include "core/memory/shrinker.h"
#include "core/memory/slab.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

char *hosted_memory;
struct page *memmap;
u64 memmap_pages;

static u64 *free_stack, free_count;

/* ---- frames ---------------------------------------------------------------------------------- */

void page_alloc_init(phys_addr_t end)
{
	memmap_pages = 2 * (end >> PAGE_SHIFT);
	end = memmap_pages << PAGE_SHIFT;
	hosted_memory = mmap(NULL, end, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	BUG_ON(hosted_memory == MAP_FAILED);
	memmap = calloc(memmap_pages, sizeof(*memmap));
	free_stack = calloc(memmap_pages, sizeof(*free_stack));
	/* those between are never used: who runs over a page's end is caught */
	for (u64 i = 0; i < memmap_pages; i += 2)
		free_stack[free_count++] = i;
	ASAN_POISON_MEMORY_REGION(hosted_memory, end);
}

struct page *alloc_page(unsigned gfp)
{
	struct page *page;

	if (allocation_fails())
		return NULL;
	if (!free_count && (gfp & GFP_KERNEL))
		reclaim_pages(32);
	if (!free_count)
		return NULL;
	page = &memmap[free_stack[--free_count]];
	BUG_ON(atomic_read(&page->refcount) != 0);
	memset(page, 0xa5, sizeof(*page)); /* the kernel's sets no more than the next three */
	page->flags = 0;
	atomic_set(&page->mapcount, 0);
	atomic_set(&page->refcount, 1);
	ASAN_UNPOISON_MEMORY_REGION(page_address(page), PAGE_SIZE);
	memset(page_address(page), gfp & GFP_ZERO ? 0 : 0xa5, PAGE_SIZE);
	hosted_pages_in_use++;
	return page;
}

void free_single_page(struct page *page)
{
	BUG_ON(page->flags & (BIT(PG_cache) | BIT(PG_locked)));
	BUG_ON(atomic_read(&page->mapcount) != 0);
	mmu_frame_freed(page_to_phys(page));
	if (page->flags & BIT(PG_anon))
		memory_use_add(MEMORY_ANON, -1);
	memset(page_address(page), 0x6b, PAGE_SIZE);
	ASAN_POISON_MEMORY_REGION(page_address(page), PAGE_SIZE);
	free_stack[free_count++] = (u64)(page - memmap);
	hosted_pages_in_use--;
}

u64 page_alloc_free_pages(void)
{
	return free_count;
}

u64 page_alloc_total_pages(void)
{
	return memmap_pages / 2;
}

__attribute__((weak)) void *hash_alloc_table(u64 bytes)
{
	return calloc(1, bytes);
}

/* ---- slabs ----------------------------------------------------------------------------------- */

void *kmem_cache_alloc(struct kmem_cache *cache, unsigned gfp)
{
	void *object;

	if (allocation_fails())
		return NULL;
	object = aligned_alloc(64, round_up(cache->size, 64));
	memset(object, gfp & GFP_ZERO ? 0 : 0x6b, cache->size);
	ASAN_POISON_MEMORY_REGION((char *)object + cache->size,
				  round_up(cache->size, 64) - cache->size);
	cache->objects++;
	hosted_objects_in_use++;
	return object;
}

void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	cache->objects--;
	hosted_objects_in_use--;
	free(object);
}

void *kmalloc(size_t size, unsigned gfp)
{
	void *object;

	if (size > MB(4) || allocation_fails())
		return NULL;
	object = malloc(size ? size : 1);
	memset(object, gfp & GFP_ZERO ? 0 : 0x6b, size);
	hosted_objects_in_use++;
	return object;
}

void kfree(const void *object)
{
	if (object)
		hosted_objects_in_use--;
	free((void *)object);
}
