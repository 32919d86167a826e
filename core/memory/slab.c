/*
 * slab.c - caches of equal objects, packed one after another in slabs of 1 << order frames.
 *
 * States of an object: allocated; free on a CPU's list (its slab counts it as in use); free on its
 * slab's list. A CPU's list is filled from and spilled to slabs in batches. A slab with free
 * objects is on cache->partial, a full one on no list. When no object of a slab is in use it is
 * given back: the CPU's list is enough against doing so too often. Objects of a fresh slab are
 * handed out in address order; after that, last freed is first used. A free object begins with the
 * link of its list.
 *
 * Locks: CPU lists: interrupts off. cache->lock: slabs and their lists.
 */
#include "core/memory/slab.h"

#include "core/log/text.h"
#include "core/memory/shrinker.h"

#define SLAB_ORDER_MAX 3
#define SLAB_MIN_OBJECTS 8
#define KMALLOC_SLAB_MAX 8192
#define KMALLOC_ORDER_MAX 10

struct kmem_cache {
	/* Constant after creation. */
	const char *name;
	u32 size;  /* from one object to the next */
	u32 batch; /* of the CPU lists */
	unsigned order;
	bool reclaimable;
	struct list_head link;

	/* Under lock. */
	spinlock_t lock;
	struct list_head partial;
	u64 slabs;
	u64 out; /* objects not on their slabs' lists */

	/* Owned by each CPU, with interrupts off. */
	struct cpu_list {
		void *head;
		u32 count;
	} __aligned(64) cpu[NR_CPUS];
};

static LIST_HEAD(caches); /* complete after boot */
static struct kmem_cache cache_cache;
static struct kmem_cache kmalloc_caches[11]; /* 8, 16, 32 ... 8192 */

static void **free_link(void *object)
{
	return object;
}

/* In debug builds what of a free object is not the link is POISON. */
#define POISON 0x6b
#ifdef CONFIG_DEBUG
#define CHECKED(cache) ((cache)->size > sizeof(void *))
#else
#define CHECKED(cache) false
#endif

static void poison(const struct kmem_cache *cache, void *object)
{
	memset((char *)object + sizeof(void *), POISON, cache->size - sizeof(void *));
}

static bool is_poisoned(const struct kmem_cache *cache, const u8 *object)
{
	for (u32 i = sizeof(void *); i < cache->size; i++)
		if (object[i] != POISON)
			return false;
	return true;
}

/* ---- slabs ----------------------------------------------------------------------------------- */

/* @cache has so many @slabs more. The lock is held. */
static void count_slabs(struct kmem_cache *cache, s64 slabs)
{
	s64 pages = slabs * (1 << cache->order);

	lockdep_assert_held(&cache->lock);
	cache->slabs += (u64)slabs;
	memory_use_add(MEMORY_SLAB, pages);
	if (cache->reclaimable)
		memory_use_add(MEMORY_SLAB_RECLAIMABLE, pages);
}

/* Up to a batch of this CPU's objects come from @page, in the slab's order; what is left is for
 * all. The lock is held. */
static void fill_cpu_list(struct kmem_cache *cache, struct page *page)
{
	struct cpu_list *list = &cache->cpu[cpu_id()];
	void **tail = &list->head;

	lockdep_assert_held(&cache->lock);
	while (*tail)
		tail = free_link(*tail);
	for (; list->count < cache->batch && page->slab_free; list->count++) {
		*tail = page->slab_free;
		tail = free_link(*tail);
		page->slab_free = *tail;
		page->slab_in_use++;
		cache->out++;
	}
	*tail = NULL;
	list_del_init(&page->slab_list);
	if (page->slab_free)
		list_add(&page->slab_list, &cache->partial);
}

/* A new slab, its objects chained in address order, the first of which are for this CPU, so that no
 * other has to fetch what it has written: false: out of memory. May sleep. */
static bool slab_create(struct kmem_cache *cache, unsigned gfp)
{
	struct page *page = alloc_pages(gfp & ~GFP_ZERO, cache->order);

	if (!page)
		return false;
	for (unsigned i = 0; i < 1u << cache->order; i++) {
		page[i].flags = BIT(PG_slab);
		page[i].slab_cache = cache;
	}
	char *object = page_address(page), *end = object + (PAGE_SIZE << cache->order);
	page->slab_in_use = 0;
	page->slab_free = object;
	INIT_LIST_HEAD(&page->slab_list);
	for (; object + cache->size <= end; object += cache->size) {
		*free_link(object) = object + 2 * cache->size <= end ? object + cache->size : NULL;
		if (CHECKED(cache))
			poison(cache, object);
	}
	guard(spinlock_irqsave, &cache->lock);
	count_slabs(cache, 1);
	fill_cpu_list(cache, page);
	return true;
}

/* An object of a slab becomes free. The lock is held. */
static void slab_put_object(struct kmem_cache *cache, void *object)
{
	u64 first = round_down((u64)(uintptr_t)object, (u64)PAGE_SIZE << cache->order);
	struct page *page = virt_to_page((void *)(uintptr_t)first);

	lockdep_assert_held(&cache->lock);
	ASSERT(page->slab_cache == cache);
	if (!page->slab_free)
		list_add(&page->slab_list, &cache->partial);
	*free_link(object) = page->slab_free;
	page->slab_free = object;
	cache->out--;
	page->slab_in_use--;
	if (page->slab_in_use)
		return;
	count_slabs(cache, -1);
	list_del(&page->slab_list);
	__free_pages(page, cache->order);
}

/* Give all but the @keep most recently freed objects of this CPU back to their slabs; frames freed.
 * Interrupts are off: @flags to restore. */
static noinline u64 spill_cpu_list(struct kmem_cache *cache, struct cpu_list *list, u32 keep,
				   unsigned long flags)
{
	void **link = &list->head, *object;

	for (u32 i = 0; i < keep && *link; i++)
		link = free_link(*link);
	object = *link;
	*link = NULL;
	spin_lock(&cache->lock);
	u64 slabs = cache->slabs;
	while (object) {
		void *next = *free_link(object);

		slab_put_object(cache, object);
		list->count--;
		object = next;
	}
	slabs -= cache->slabs;
	spin_unlock_irqrestore(&cache->lock, flags);
	return slabs << cache->order;
}

/* ---- allocate and free ----------------------------------------------------------------------- */

/* This CPU's list was empty: with up to a batch of free objects, in the slabs' order, or with a new
 * slab for them, try again. */
static noinline void *alloc_slow(struct kmem_cache *cache, unsigned gfp)
{
	unsigned long flags = arch_irq_save();
	struct cpu_list *list = &cache->cpu[cpu_id()];

	spin_lock(&cache->lock);
	while (list->count < cache->batch && !list_empty(&cache->partial))
		fill_cpu_list(cache, list_first_entry(&cache->partial, struct page, slab_list));
	bool filled = list->count; /* perhaps by an interrupt */
	spin_unlock_irqrestore(&cache->lock, flags);
	if (!filled && !slab_create(cache, gfp))
		return NULL;
	return kmem_cache_alloc(cache, gfp);
}

void *kmem_cache_alloc(struct kmem_cache *cache, unsigned gfp)
{
	unsigned long flags = arch_irq_save();
	struct cpu_list *list = &cache->cpu[cpu_id()];
	void *object = list->head;

	if (unlikely(!object)) {
		arch_irq_restore(flags);
		return alloc_slow(cache, gfp);
	}
	list->head = *free_link(object);
	list->count--;
	arch_irq_restore(flags);
	if (CHECKED(cache)) {
		if (!is_poisoned(cache, object))
			panic("slab %s: free object %p was written", cache->name, object);
		((u8 *)object)[cache->size - 1] = 0; /* or one never used looked free */
	}
	if (unlikely(gfp & GFP_ZERO))
		memset(object, 0, cache->size);
	return object;
}

void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	if (CHECKED(cache)) {
		if (is_poisoned(cache, object))
			panic("slab %s: object %p is freed twice", cache->name, object);
		poison(cache, object);
	}
	unsigned long flags = arch_irq_save();
	struct cpu_list *list = &cache->cpu[cpu_id()];
	*free_link(object) = list->head;
	list->head = object;
	if (unlikely(++list->count > 4 * cache->batch))
		spill_cpu_list(cache, list, 2 * cache->batch, flags);
	else
		arch_irq_restore(flags);
}

/* ---- making caches --------------------------------------------------------------------------- */

/* The smallest order whose slab holds enough objects and wastes little; see slab.h. */
static unsigned choose_order(u32 size)
{
	for (u32 objects = SLAB_MIN_OBJECTS; objects > 1; objects--)
		for (u32 fraction = 16; fraction >= 4; fraction /= 2)
			for (unsigned order = 0; order <= SLAB_ORDER_MAX; order++) {
				u64 bytes = PAGE_SIZE << order;

				if (bytes >= (u64)objects * size &&
				    bytes % size <= bytes / fraction)
					return order;
			}
	return fls64((size - 1) >> PAGE_SHIFT);
}

static struct kmem_cache *cache_setup(struct kmem_cache *cache, const char *name, size_t size,
				      size_t align, unsigned flags)
{
	cache->name = name;
	cache->size = (u32)round_up(size, max(align, sizeof(void *)));
	cache->order = choose_order(cache->size);
	cache->batch = min(max(16384u / cache->size, 4u), 32u);
	cache->reclaimable = flags & SLAB_RECLAIMABLE;
	spin_lock_init(&cache->lock, "kmem_cache->lock");
	INIT_LIST_HEAD(&cache->partial);
	list_add_tail(&cache->link, &caches);
	return cache;
}

struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align, unsigned flags)
{
	struct kmem_cache *cache = kmem_cache_alloc(&cache_cache, GFP_KERNEL | GFP_ZERO);

	if (!cache)
		panic("no memory for the slab cache %s", name);
	return cache_setup(cache, name, size, align, flags);
}

/* Give this CPU's free objects back, and so the slabs without others: frames freed. Any context. */
static u64 slab_shrink(void)
{
	struct kmem_cache *cache;
	u64 frames = 0;

	list_for_each_entry (cache, &caches, link) {
		unsigned long flags = arch_irq_save();

		frames += spill_cpu_list(cache, &cache->cpu[cpu_id()], 0, flags);
	}
	return frames;
}

void slab_hold(u64 random)
{
	const unsigned least = 16; /* large objects come one or two at a time */
	struct kmem_cache *cache;

	list_for_each_entry (cache, &caches, link)
		for (u64 count = splitmix64(&random) % max(cache->batch, least); count; count--)
			kmem_cache_alloc(cache, GFP_KERNEL);
}

/* ---- kmalloc --------------------------------------------------------------------------------- */

void *kmalloc(size_t size, unsigned gfp)
{
	if (likely(size <= KMALLOC_SLAB_MAX)) {
		unsigned index = size > 8 ? fls64(size - 1) - 3 : 0;

		return kmem_cache_alloc(&kmalloc_caches[index], gfp);
	}
	unsigned order = fls64((size - 1) >> PAGE_SHIFT);
	if (order > KMALLOC_ORDER_MAX)
		return NULL;
	struct page *page = alloc_pages(gfp, order);
	if (!page)
		return NULL;
	page->buddy_order = order;
	memory_use_add(MEMORY_SLAB, 1 << order);
	return page_address(page);
}

void kfree(const void *object)
{
	if (!object)
		return;
	struct page *page = virt_to_page(object);
	if (likely(test_bit(PG_slab, &page->flags))) {
		kmem_cache_free(page->slab_cache, (void *)object);
		return;
	}
	memory_use_add(MEMORY_SLAB, -(s64)(1 << page->buddy_order));
	__free_pages(page, page->buddy_order);
}

/* ---- reports --------------------------------------------------------------------------------- */

void slab_show(struct text *out, const struct proc_entry *unused)
{
	struct kmem_cache *cache;

	text_printf(out,
		    "# name            <active_objs> <num_objs> <objsize> : pages <num_pages>\n");
	list_for_each_entry (cache, &caches, link) {
		u64 objects = cache->slabs * ((PAGE_SIZE << cache->order) / cache->size), free = 0;

		for (unsigned i = 0; i < NR_CPUS; i++)
			free += READ_ONCE(cache->cpu[i].count);
		text_printf(out, "%-17s %6llu %6llu %6u : pages %6llu\n", cache->name,
			    cache->out - min(cache->out, free), objects, cache->size,
			    cache->slabs << cache->order);
	}
}

void slab_init(void)
{
	static struct shrinker shrinker = {.name = "slabs", .give_frames = slab_shrink};
	static char names[ARRAY_SIZE(kmalloc_caches)][16];

	cache_setup(&cache_cache, "kmem_cache", sizeof(struct kmem_cache), 64, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(kmalloc_caches); i++) {
		u32 size = 8u << i;

		snprintf(names[i], sizeof(names[i]), "kmalloc-%u", size);
		cache_setup(&kmalloc_caches[i], names[i], size, size, 0);
	}
	shrinker_register(&shrinker);
}
