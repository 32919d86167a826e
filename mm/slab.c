/*
 * slab.c - caches of equal objects, packed one after another in slabs of 1 << order frames.
 *
 * States of an object: allocated; free on a CPU's list (its slab counts it as in use); free on its
 * slab's list. A CPU's list is filled from and spilled to slabs in batches. A slab with free
 * objects is on cache->partial, a full one on no list. When no object of a slab is in use it is
 * given back, unless no other slab has free objects. Objects of a fresh slab are handed out in
 * address order; after that, last freed is first used.
 *
 * Locks: CPU lists: interrupts off. cache->lock: slabs and their lists. caches_lock: the list of
 * caches; outside cache->lock.
 */
#include "mm/slab.h"

#include "hash/memory.h"

static_assert(GFP_KERNEL == HASH_GFP_KERNEL, "what hash/ allocates with");

#define SLAB_ORDER_MAX 3
#define SLAB_MIN_OBJECTS 8
#define KMALLOC_SLAB_MAX 8192
#define KMALLOC_ORDER_MAX 10

struct kmem_cache {
	/* Constant after creation. */
	const char *name;
	u32 size;	 /* from one object to the next */
	u32 object_size; /* as asked for */
	u32 free_offset; /* where a free object holds the link of its list */
	u32 per_slab;
	u32 batch; /* of the CPU lists */
	u8 order;
	bool reclaimable;
	void (*constructor)(void *);
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

static DEFINE_SPINLOCK(caches_lock);
static LIST_HEAD(caches);
static struct kmem_cache cache_cache;
static struct kmem_cache kmalloc_caches[13]; /* 8, 16, 32 ... 8192, and 96 and 192 */

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

/* @page is off the list. */
static void slab_destroy(struct kmem_cache *cache, struct page *page)
{
	cache->slabs--;
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

/* Move up to a batch of free objects, in the slabs' order, to this CPU's empty list. */
static void fill_cpu_list(struct kmem_cache *cache, struct cpu_list *list)
{
	void **tail = &list->head;

	while (list->count < cache->batch && !list_empty(&cache->partial)) {
		struct page *page = list_first_entry(&cache->partial, struct page, slab_list);

		*tail = page->slab_free;
		tail = free_link(cache, *tail);
		page->slab_free = *tail;
		page->slab_in_use++;
		cache->out++;
		list->count++;
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
	list_del(&page->slab_list);
	if (list_empty(&cache->partial))
		list_add(&page->slab_list, &cache->partial);
	else
		slab_destroy(cache, page);
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
	spill_cpu_list(cache, list, cache->batch);
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
	if (unlikely(++list->count > 2 * cache->batch))
		free_slow(cache, list, flags); /* called last, so that nothing need be saved */
	else
		arch_irq_restore(flags);
}

/* ---- making caches --------------------------------------------------------------------------- */

/* The smallest order whose slab holds @objects and wastes no more than 1/@fraction; -1. */
static int find_order(u32 size, u32 objects, u32 fraction)
{
	for (int order = 0; order <= SLAB_ORDER_MAX; order++) {
		u64 bytes = PAGE_SIZE << order;

		if (bytes >= (u64)objects * size && bytes % size <= bytes / fraction)
			return order;
	}
	return -1;
}

static unsigned choose_order(u32 size)
{
	for (u32 objects = SLAB_MIN_OBJECTS; objects > 1; objects--)
		for (u32 fraction = 16; fraction >= 4; fraction /= 2) {
			int order = find_order(size, objects, fraction);

			if (order >= 0)
				return (unsigned)order;
		}
	return fls64((size - 1) >> PAGE_SHIFT);
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
	cache->reclaimable = flags & SLAB_RECLAIMABLE;
	cache->constructor = constructor;
	spin_lock_init(&cache->lock, "kmem_cache->lock");
	INIT_LIST_HEAD(&cache->partial);
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

u64 slab_shrink(void)
{
	struct kmem_cache *cache;
	unsigned long flags;
	u64 frames = 0;

	spin_lock_irqsave(&caches_lock, flags);
	list_for_each_entry (cache, &caches, link) {
		struct page *page;

		spill_cpu_list(cache, &cache->cpu[cpu_id()], 0);
		spin_lock(&cache->lock);
		/* where the one that may be empty is: others come before it */
		page = list_last_entry(&cache->partial, struct page, slab_list);
		if (!list_empty(&cache->partial) && !page->slab_in_use) {
			list_del(&page->slab_list);
			slab_destroy(cache, page);
			frames += 1u << cache->order;
		}
		spin_unlock(&cache->lock);
	}
	spin_unlock_irqrestore(&caches_lock, flags);
	return frames;
}

/* ---- kmalloc --------------------------------------------------------------------------------- */

static struct kmem_cache *kmalloc_cache(size_t size)
{
	if (size <= 192 && size > 64 && (size <= 96 || size > 128))
		return &kmalloc_caches[size <= 96 ? 11 : 12];
	return &kmalloc_caches[size > 8 ? fls64(size - 1) - 3 : 0];
}

static void *kmalloc_large(size_t size, unsigned gfp)
{
	unsigned order = fls64((size - 1) >> PAGE_SHIFT);
	struct page *page = order <= KMALLOC_ORDER_MAX ? alloc_pages(gfp, order) : NULL;

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
	list_for_each_entry (cache, &caches, link) {
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
	static char names[ARRAY_SIZE(kmalloc_caches)][16];

	cache_setup(&cache_cache, "kmem_cache", sizeof(struct kmem_cache), 64, 0, NULL);
	for (unsigned i = 0; i < ARRAY_SIZE(kmalloc_caches); i++) {
		u32 size = i < 11 ? 8u << i : 96u * (i - 10);

		snprintf(names[i], sizeof(names[i]), "kmalloc-%u", size);
		cache_setup(&kmalloc_caches[i], names[i], size, i < 11 ? size : 8, 0, NULL);
	}
}
