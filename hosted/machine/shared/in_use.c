/*
 * in_use.c - hosted: counts of pages and objects, caches of objects, allocations that fail, leaks.
 */
#include "hosted/machine/shared/in_use.h"

#include <stdlib.h>

#include "core/lock/rcu.h"
#include "core/log/assert.h"
#include "core/memory/page_alloc.h"
#include "core/memory/slab.h"
#include "fs/direct_hooks.h"
#include "fs/inode/inode.h"
#include "hosted/machine/hosted.h"

u64 hosted_pages_in_use, hosted_objects_in_use;
int hosted_fail_after;
bool hosted_fail_on;
struct memory_use_counts memory_use_counts[NR_CPUS];

static struct kmem_cache *caches;
static u64 pages_marked, objects_marked;

bool allocation_fails(void)
{
	if (hosted_fail_after <= 0 || --hosted_fail_after > 0)
		return false;
	hosted_fail_after = hosted_fail_on; /* the next one, too */
	return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

struct page *alloc_pages(unsigned gfp, unsigned order)
{
	BUG_ON(order != 0); /* larger blocks are asked for by address */
	return alloc_page(gfp);
}

void __free_pages(struct page *page, unsigned order)
{
	BUG_ON(order != 0);
	put_page(page);
}

u64 memory_use_total(enum memory_use use)
{
	s64 total = 0;

	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		total += memory_use_counts[cpu].pages[use];
	return (u64)max(total, 0ll);
}

/* ---- caches of objects ----------------------------------------------------------------------- */

void slab_init(void)
{
}

void hosted_memory_init(unsigned megabytes)
{
	page_alloc_init(MB(megabytes));
	slab_init();
}

struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align, unsigned flags)
{
	struct kmem_cache *cache = calloc(1, sizeof(*cache));

	(void)align, (void)flags;
	*cache = (struct kmem_cache){.name = name, .size = size, .next = caches};
	caches = cache;
	return cache;
}

/* ---- leaks ----------------------------------------------------------------------------------- */

static void drop_caches(void)
{
	while (shrink_dcache(~0ull >> 2))
		;
	while (shrink_icache(~0ull >> 2))
		;
#ifdef CONFIG_DCACHE_FASTPATH
	direct_forget_all();
#endif
#ifdef CONFIG_SECURITY_LABELS
	labels_forget();
#endif
	rcu_idle_enter(); /* all other CPUs idle: what waits for a grace period is freed */
	rcu_idle_exit();
}

void leak_mark(void)
{
	drop_caches();
	pages_marked = hosted_pages_in_use;
	objects_marked = hosted_objects_in_use;
	for (struct kmem_cache *cache = caches; cache; cache = cache->next)
		cache->marked = cache->objects;
}

void leak_check(void)
{
	drop_caches();
	CHECK_EQUAL(hosted_pages_in_use, pages_marked);
	CHECK_EQUAL(hosted_objects_in_use, objects_marked);
	for (struct kmem_cache *cache = caches; cache; cache = cache->next)
		if (cache->objects != cache->marked)
			test_failed(__FILE__, __LINE__, "%lld objects too many in the cache of %s",
				    (long long)(cache->objects - cache->marked), cache->name);
}
