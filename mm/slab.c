/*
 * slab.c - caches of equal objects, packed one after another in slabs of 1 << order frames.
 *
 * States of an object: allocated; free on a CPU's list (its slab counts it as in use); free on its
 * slab's list. A CPU's list is filled from and spilled to slabs in batches. A slab with free
 * objects is on cache->partial, one without objects in use on cache->empty (a few are kept), a full
 * one on no list. Objects of a fresh slab are handed out in address order; after that, last freed
 * is first used.
 *
 * Locks: CPU lists: interrupts off. cache->lock: slabs and their lists. caches_lock: the list of
 * caches; outside cache->lock.
 */
#include "mm/slab.h"

#include <arch/cpu.h>

#include "hash/memory.h"
#include "kernel/core/bitops.h"
#include "kernel/core/printk.h"
#include "kernel/core/spinlock.h"
#include "kernel/core/string.h"

static_assert(GFP_KERNEL == HASH_GFP_KERNEL, "what hash/ allocates with");

#define SLAB_ORDER_MAX 3
#define SLAB_MIN_OBJECTS 8
#define EMPTY_KEPT 2
#define KMALLOC_SLAB_MAX 8192

struct kmem_cache {
	/* Constant after creation. */
	const char *name;
	u32 size;	 /* from one object to the next */
	u32 object_size; /* as asked for */
	u32 free_offset; /* where a free object holds the link of its list */
	u32 per_slab;
	u32 batch, limit; /* of the CPU lists */
	u8 order;
	bool reclaimable;
	void (*constructor)(void *);
	struct list_head link;

	/* Under lock. */
	spinlock_t lock;
	struct list_head partial, empty;
	u64 slabs, empty_slabs;
	u64 out; /* objects not on their slabs' lists */

	/* Owned by each CPU, with interrupts off. */
	struct cpu_list {
		void *head;
		u32 count;
	} __aligned(64) cpu[NR_CPUS];
};

static DEFINE_SPINLOCK(caches_lock);
static LIST_HEAD(caches);
static struct kmem_cache cache_cache;
static struct kmem_cache kmalloc_caches[13];
static struct kmem_cache *kmalloc_by_words[24]; /* (size - 1) / 8 for sizes up to 192 */

static void **free_link(const struct kmem_cache *cache, void *object)
{
	return (void **)((char *)object + cache->free_offset);
}

/* ---- debug: [object][red zone][link] --------------------------------------------------------- */

#ifdef CONFIG_DEBUG
#define POISON 0x6b
#define ZONE_FREE 0xbbbbbbbbbbbbbbbbULL
#define ZONE_USED 0xccccccccccccccccULL

static u64 *red_zone(const struct kmem_cache *cache, void *object)
{
	return (u64 *)((char *)object + cache->free_offset) - 1;
}

static void check_zone(const struct kmem_cache *cache, void *object, u64 want, const char *what)
{
	if (*red_zone(cache, object) != want)
		panic("slab %s: object %p: %s (red zone %llx)", cache->name, object, what,
		      (unsigned long long)*red_zone(cache, object));
}

static void debug_new(const struct kmem_cache *cache, void *object)
{
	*red_zone(cache, object) = ZONE_FREE;
	if (!cache->constructor)
		memset(object, POISON, cache->object_size);
}

static void debug_alloc(const struct kmem_cache *cache, void *object)
{
	const u8 *bytes = object;

	check_zone(cache, object, ZONE_FREE, "handed out twice or overrun while free");
	for (u32 i = 0; !cache->constructor && i < cache->object_size; i++)
		if (bytes[i] != POISON)
			panic("slab %s: object %p written after free at byte %u: %02x", cache->name,
			      object, i, bytes[i]);
	*red_zone(cache, object) = ZONE_USED;
}

static void debug_free(const struct kmem_cache *cache, void *object)
{
	check_zone(cache, object, ZONE_USED, "freed twice or overrun");
	debug_new(cache, object);
}
#else
static inline void debug_new(const struct kmem_cache *cache, void *object)
{
	(void)cache, (void)object;
}
#define debug_alloc debug_new
#define debug_free debug_new
#endif

/* ---- slabs; cache->lock is held, interrupts off ---------------------------------------------- */

static struct page *object_slab(const struct kmem_cache *cache, const void *object)
{
	return virt_to_page((void *)((uintptr_t)object & ~((PAGE_SIZE << cache->order) - 1)));
}

static void count_slab_pages(const struct kmem_cache *cache, s64 pages)
{
	memory_use_add(MEMORY_SLAB, pages);
	if (cache->reclaimable)
		memory_use_add(MEMORY_SLAB_RECLAIMABLE, pages);
}

/* A new slab, its objects chained in address order; NULL. Without the lock; may sleep. */
static struct page *slab_create(struct kmem_cache *cache, unsigned gfp)
{
	struct page *page = alloc_pages(gfp & ~GFP_ZERO, cache->order);
	char *object;

	if (!page)
		return NULL;
	for (unsigned i = 0; i < 1u << cache->order; i++) {
		page[i].flags = BIT(PG_slab);
		page[i].slab_cache = cache;
	}
	object = page_address(page);
	page->slab_in_use = 0;
	page->slab_free = object;
	for (u32 i = 0; i < cache->per_slab; i++, object += cache->size) {
		*free_link(cache, object) = i + 1 < cache->per_slab ? object + cache->size : NULL;
		debug_new(cache, object);
		if (cache->constructor)
			cache->constructor(object);
	}
	return page;
}

static void slab_destroy(struct kmem_cache *cache, struct page *page)
{
	count_slab_pages(cache, -(s64)(1 << cache->order));
	for (unsigned i = 0; i < 1u << cache->order; i++)
		page[i].flags = 0;
	__free_pages(page, cache->order);
}

static void slab_link(struct kmem_cache *cache, struct page *page)
{
	list_add(&page->slab_list, &cache->partial);
	cache->slabs++;
	count_slab_pages(cache, 1 << cache->order);
}

/* A slab with a free object, or NULL. */
static struct page *slab_with_room(struct kmem_cache *cache)
{
	if (list_empty(&cache->partial)) {
		if (list_empty(&cache->empty))
			return NULL;
		list_move(cache->empty.next, &cache->partial);
		cache->empty_slabs--;
	}
	return list_first_entry(&cache->partial, struct page, slab_list);
}

/* Move up to a batch of free objects, in the slabs' order, to this CPU's empty list. */
static void fill_cpu_list(struct kmem_cache *cache, struct cpu_list *list)
{
	void **tail = &list->head;
	struct page *page;

	while (list->count < cache->batch && (page = slab_with_room(cache))) {
		while (list->count < cache->batch && page->slab_free) {
			*tail = page->slab_free;
			tail = free_link(cache, *tail);
			page->slab_free = *tail;
			page->slab_in_use++;
			cache->out++;
			list->count++;
		}
		if (!page->slab_free)
			list_del(&page->slab_list);
	}
	*tail = NULL;
}

static void slab_put_object(struct kmem_cache *cache, void *object)
{
	struct page *page = object_slab(cache, object);

	ASSERT(page->slab_cache == cache);
	if (!page->slab_free)
		list_add(&page->slab_list, &cache->partial);
	*free_link(cache, object) = page->slab_free;
	page->slab_free = object;
	cache->out--;
	if (--page->slab_in_use)
		return;
	if (cache->empty_slabs < EMPTY_KEPT) {
		list_move(&page->slab_list, &cache->empty);
		cache->empty_slabs++;
	} else {
		list_del(&page->slab_list);
		cache->slabs--;
		slab_destroy(cache, page);
	}
}

/* Give all but the @keep most recently freed objects of this CPU back to their slabs. Interrupts
 * off. */
static void spill_cpu_list(struct kmem_cache *cache, struct cpu_list *list, u32 keep)
{
	void **link = &list->head;
	void *object;

	for (u32 i = 0; i < keep && *link; i++)
		link = free_link(cache, *link);
	object = *link;
	*link = NULL;
	spin_lock(&cache->lock);
	while (object) {
		void *next = *free_link(cache, object);

		slab_put_object(cache, object);
		list->count--;
		object = next;
	}
	spin_unlock(&cache->lock);
}

/* ---- allocate and free ----------------------------------------------------------------------- */

static __always_inline void *finish_alloc(const struct kmem_cache *cache, void *object,
					  unsigned gfp)
{
	debug_alloc(cache, object);
	return unlikely(gfp & GFP_ZERO) ? memset(object, 0, cache->object_size) : object;
}

/* This CPU's list was empty: an object, or NULL. */
static noinline void *alloc_slow(struct kmem_cache *cache, unsigned gfp)
{
	struct page *fresh = NULL;

	for (;;) {
		unsigned long flags;
		struct cpu_list *list;
		void *object;

		spin_lock_irqsave(&cache->lock, flags);
		list = &cache->cpu[cpu_id()];
		if (fresh)
			slab_link(cache, fresh);
		if (!list->count)
			fill_cpu_list(cache, list);
		object = list->head;
		if (object) {
			list->head = *free_link(cache, object);
			list->count--;
		}
		spin_unlock_irqrestore(&cache->lock, flags);
		if (object || fresh)
			return object ? finish_alloc(cache, object, gfp) : NULL;
		fresh = slab_create(cache, gfp);
		if (!fresh)
			return NULL;
	}
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
	list->head = *free_link(cache, object);
	list->count--;
	arch_irq_restore(flags);
	return finish_alloc(cache, object, gfp);
}

/* A CPU's list has grown long. Interrupts are off: @flags to restore. */
static noinline void free_slow(struct kmem_cache *cache, struct cpu_list *list, unsigned long flags)
{
	spill_cpu_list(cache, list, cache->limit - cache->batch);
	arch_irq_restore(flags);
}

void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	unsigned long flags;
	struct cpu_list *list;

	debug_free(cache, object);
	flags = arch_irq_save();
	list = &cache->cpu[cpu_id()];
	*free_link(cache, object) = list->head;
	list->head = object;
	if (unlikely(++list->count > cache->limit)) {
		free_slow(cache, list, flags);
		return;
	}
	arch_irq_restore(flags);
}

/* ---- making caches --------------------------------------------------------------------------- */

/* Does a slab of this order waste no more than 1/@fraction? */
static bool order_fits(u32 size, unsigned order, u32 objects, u32 fraction)
{
	u64 bytes = PAGE_SIZE << order;

	return bytes >= (u64)objects * size && bytes % size <= bytes / fraction;
}

static unsigned choose_order(u32 size)
{
	for (u32 objects = min_t(u32, SLAB_MIN_OBJECTS, (PAGE_SIZE << SLAB_ORDER_MAX) / size);
	     objects > 1; objects--)
		for (u32 fraction = 16; fraction >= 4; fraction /= 2)
			for (unsigned order = 0; order <= SLAB_ORDER_MAX; order++)
				if (order_fits(size, order, objects, fraction))
					return order;
	for (unsigned order = 0; order < MAX_ORDER; order++)
		if (order_fits(size, order, 1, 1))
			return order;
	panic("slab object of %u bytes", size);
}

static void cache_setup(struct kmem_cache *cache, const char *name, size_t size, size_t align,
			unsigned flags, void (*constructor)(void *))
{
	unsigned long irq;

	align = max(align, sizeof(void *));
	if (flags & SLAB_HWCACHE_ALIGN)
		align = max(align, (size_t)64);
	cache->name = name;
	cache->object_size = (u32)size;
	size = round_up(max(size, sizeof(void *)), sizeof(void *));
	/* The link may lie in the free object, unless what the constructor made must stay. */
	cache->free_offset = 0;
#ifdef CONFIG_DEBUG
	cache->free_offset = (u32)size + sizeof(u64);
	size += sizeof(u64) + sizeof(void *);
#else
	if (constructor) {
		cache->free_offset = (u32)size;
		size += sizeof(void *);
	}
#endif
	cache->size = (u32)round_up(size, align);
	cache->order = (u8)choose_order(cache->size);
	cache->per_slab = (u32)((PAGE_SIZE << cache->order) / cache->size);
	cache->batch = min(max(16384u / cache->size, 4u), 32u);
	cache->limit = 2 * cache->batch;
	cache->reclaimable = flags & SLAB_RECLAIMABLE;
	cache->constructor = constructor;
	spin_lock_init(&cache->lock, "kmem_cache->lock");
	INIT_LIST_HEAD(&cache->partial);
	INIT_LIST_HEAD(&cache->empty);
	spin_lock_irqsave(&caches_lock, irq);
	list_add_tail(&cache->link, &caches);
	spin_unlock_irqrestore(&caches_lock, irq);
}

struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align, unsigned flags,
				     void (*constructor)(void *))
{
	struct kmem_cache *cache = kmem_cache_alloc(&cache_cache, GFP_KERNEL | GFP_ZERO);

	if (!cache)
		panic("no memory for the slab cache %s", name);
	cache_setup(cache, name, size, align, flags, constructor);
	return cache;
}

/* Free the empty slabs. Frames freed. Interrupts off. */
static u64 free_empty_slabs(struct kmem_cache *cache)
{
	u64 frames = 0;

	spill_cpu_list(cache, &cache->cpu[cpu_id()], 0);
	spin_lock(&cache->lock);
	while (!list_empty(&cache->empty)) {
		struct page *page = list_first_entry(&cache->empty, struct page, slab_list);

		list_del(&page->slab_list);
		cache->empty_slabs--;
		cache->slabs--;
		slab_destroy(cache, page);
		frames += 1u << cache->order;
	}
	spin_unlock(&cache->lock);
	return frames;
}

u64 slab_shrink(void)
{
	struct kmem_cache *cache;
	u64 frames = 0;
	unsigned long flags;

	spin_lock_irqsave(&caches_lock, flags);
	list_for_each_entry(cache, &caches, link)
		frames += free_empty_slabs(cache);
	spin_unlock_irqrestore(&caches_lock, flags);
	return frames;
}

void kmem_cache_destroy(struct kmem_cache *cache)
{
	unsigned long flags;

	spin_lock_irqsave(&caches_lock, flags);
	list_del(&cache->link);
	for (unsigned i = 0; i < NR_CPUS; i++)
		spill_cpu_list(cache, &cache->cpu[i], 0);
	free_empty_slabs(cache);
	spin_unlock_irqrestore(&caches_lock, flags);
	if (cache->out) {
		pr_err("slab %s destroyed with %llu objects out\n", cache->name,
		       (unsigned long long)cache->out);
		ASSERT(!cache->out);
		return;
	}
	kmem_cache_free(&cache_cache, cache);
}

/* ---- kmalloc --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	u32 size;
} kmalloc_classes[] = {
	{"kmalloc-8", 8},     {"kmalloc-16", 16},   {"kmalloc-32", 32},	  {"kmalloc-64", 64},
	{"kmalloc-96", 96},   {"kmalloc-128", 128}, {"kmalloc-192", 192}, {"kmalloc-256", 256},
	{"kmalloc-512", 512}, {"kmalloc-1k", 1024}, {"kmalloc-2k", 2048}, {"kmalloc-4k", 4096},
	{"kmalloc-8k", 8192},
};

static struct kmem_cache *kmalloc_cache(size_t size)
{
	if (size <= 192)
		return kmalloc_by_words[size ? (size - 1) / 8 : 0];
	return &kmalloc_caches[fls64(size - 1) - 1]; /* 256 is class 7, 512 class 8 ... */
}

static void *kmalloc_large(size_t size, unsigned gfp)
{
	unsigned order = fls64((size - 1) >> PAGE_SHIFT);
	struct page *page = alloc_pages(gfp, order);

	if (!page)
		return NULL;
	page->buddy_order = order;
	memory_use_add(MEMORY_SLAB, 1 << order);
	return page_address(page);
}

void *kmalloc(size_t size, unsigned gfp)
{
	if (unlikely(size > KMALLOC_SLAB_MAX))
		return kmalloc_large(size, gfp);
	return kmem_cache_alloc(kmalloc_cache(size), gfp);
}

void *kzalloc(size_t size, unsigned gfp)
{
	return kmalloc(size, gfp | GFP_ZERO);
}

void kfree(const void *object)
{
	struct page *page;

	if (!object)
		return;
	page = virt_to_page(object);
	if (likely(test_bit(PG_slab, &page->flags))) {
		kmem_cache_free(page->slab_cache, (void *)object);
		return;
	}
	memory_use_add(MEMORY_SLAB, -(s64)(1 << page->buddy_order));
	__free_pages(page, page->buddy_order);
}

void *krealloc(void *old, size_t size, unsigned gfp)
{
	const struct page *page;
	size_t old_size;
	void *new;

	if (!old)
		return kmalloc(size, gfp);
	page = virt_to_page(old);
	old_size = test_bit(PG_slab, &page->flags) ? page->slab_cache->object_size
						   : PAGE_SIZE << page->buddy_order;
	if (size <= old_size)
		return old;
	new = kmalloc(size, gfp);
	if (!new)
		return NULL;
	memcpy(new, old, old_size);
	kfree(old);
	return new;
}

char *kstrdup(const char *string, unsigned gfp)
{
	size_t size = strlen(string) + 1;
	char *copy = kmalloc(size, gfp);

	return copy ? memcpy(copy, string, size) : NULL;
}

/* ---- reports --------------------------------------------------------------------------------- */

void slab_for_each(void (*visit)(const struct slab_info *info, void *arg), void *arg)
{
	struct kmem_cache *cache;

	/* Caches are made at boot and stay, so the list may be walked without its lock: visit() may
	 * sleep. */
	list_for_each_entry(cache, &caches, link) {
		struct slab_info info = {
			.name = cache->name,
			.objects_active = cache->out,
			.objects_total = cache->slabs * cache->per_slab,
			.object_size = cache->size,
			.pages = cache->slabs << cache->order,
		};

		for (unsigned i = 0; i < NR_CPUS; i++)
			info.objects_active -=
				min(info.objects_active, (u64)READ_ONCE(cache->cpu[i].count));
		visit(&info, arg);
	}
}

void slab_init(void)
{
	unsigned class = 0;

	BUILD_BUG_ON(ARRAY_SIZE(kmalloc_classes) != ARRAY_SIZE(kmalloc_caches));
	cache_setup(&cache_cache, "kmem_cache", sizeof(struct kmem_cache), 64, 0, NULL);
	for (unsigned i = 0; i < ARRAY_SIZE(kmalloc_classes); i++) {
		u32 size = kmalloc_classes[i].size;

		cache_setup(&kmalloc_caches[i], kmalloc_classes[i].name, size,
			    is_power_of_2(size) ? size : 8, 0, NULL);
	}
	for (unsigned word = 0; word < ARRAY_SIZE(kmalloc_by_words); word++) {
		while (kmalloc_classes[class].size < (word + 1) * 8)
			class++;
		kmalloc_by_words[word] = &kmalloc_caches[class];
	}
}
